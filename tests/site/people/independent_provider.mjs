// Runs the OpenID provider of the npm package oidc-provider, which others made.
// Its configuration is JSON on standard input; it ends when that is closed. "lifetime" has ID tokens
// end after so many seconds (less than none: before they begin), and "audience" has them be for that
// client, whoever asks: so a sound provider says what it should not.
import { pathToFileURL } from "node:url";

const [folder] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(`${folder}/oidc-provider/lib/index.js`));

let input = "";
process.stdin.on("data", (piece) => {
  input += piece;
  if (!input.includes("\n")) return;
  const given = JSON.parse(input);
  const provider = new Provider(given.issuer, {
    clients: given.clients,
    jwks: given.jwks,
    cookies: { keys: ["only a test"] },
    claims: { profile: ["preferred_username"] },
    ...(given.lifetime ? { ttl: { IdToken: () => given.lifetime } } : {}),
    async findAccount(_, id) {
      return { accountId: id, claims: async () => ({ sub: id, preferred_username: `${id}@example` }) };
    },
  });
  if (given.audience) {
    const { issue } = provider.IdToken.prototype;
    provider.IdToken.prototype.issue = async function issueForAnother(options) {
      this.client = await provider.Client.find(given.audience);
      return issue.call(this, options);
    };
  }
  provider.listen(given.port, "127.0.0.1");
});
process.stdin.on("end", () => process.exit(0));
