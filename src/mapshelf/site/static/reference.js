// Shows the API reference with Swagger UI (from a separate package, see assets.py).

const place = document.getElementById("reference");
const root = place.dataset.root;

// It has colours for the dark, and leaves it to the page to say when.
const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", dress);
dress();

const described = await (await fetch(`${root}/openapi.json`)).json();
// Behind a proxy the service may lie below a path, which its own description does not know.
described.servers = [{ url: root || "/" }];

SwaggerUIBundle({
  spec: described,
  domNode: place,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  tryItOutEnabled: true,
  persistAuthorization: false, // a token stays in the memory of this page
  supportedSubmitMethods: ["get"],
  validatorUrl: null, // it would be asked of somebody else
});
