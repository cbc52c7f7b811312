import java.io.File;
import java.util.Set;
import org.freeplane.features.map.MapModel;
import org.freeplane.features.map.mindmapmode.MMapController;
import org.freeplane.features.mode.Controller;
import org.freeplane.features.mode.ModeController;
import org.freeplane.features.mode.mindmapmode.MModeController;
import org.freeplane.features.url.MapVersionInterpreter;
import org.freeplane.features.url.mindmapmode.MFileManager;
import org.freeplane.main.headlessmode.FreeplaneHeadlessStarter;

/**
 * Opens maps in Freeplane 1.7 without a window and saves each under another name.
 *
 * Arguments: a map, where to save it, and so on. For each map it prints a line: SAVED, the name of
 * the dialect that Freeplane takes it for, and whether it would warn that the map is another
 * program's.
 */
public class SaveAgain {
    public static void main(String[] files) throws Exception {
        FreeplaneHeadlessStarter starter = new FreeplaneHeadlessStarter();
        Controller controller = starter.createController();
        starter.createModeControllers(controller);
        starter.buildMenus(controller, Set.of());
        ModeController mode = controller.getModeController(MModeController.MODENAME);
        controller.selectModeForBuild(mode);
        MMapController maps = (MMapController) mode.getMapController();
        MFileManager manager = MFileManager.getController(mode);
        for (int place = 0; place + 1 < files.length; place += 2) {
            MapModel map = maps.readMap(new File(files[place]).toURI().toURL());
            MapVersionInterpreter dialect = map.getExtension(MapVersionInterpreter.class);
            manager.writeToFile(map, new File(files[place + 1]));
            System.out.println("SAVED " + dialect.name + " " + dialect.anotherDialect);
        }
        System.exit(0);
    }
}
