// Runs every example of README.md against a real daemon and a server that limits rates.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { readText, startDaemon, startScripted } from "./support.mjs";

const text = readText(new URL("../README.md", import.meta.url));
const examples = [...text.matchAll(/^```js\n([^]*?)^```/gm)].map((match) => match[1]);
const rules = /^```yaml\n([^]*?)^```/m.exec(text)[1];
const DIST = process.env.DIST ?? new URL("../dist", import.meta.url).pathname;

test("every example", async (t) => {
  const daemon = await startDaemon(rules);
  t.after(() => daemon.close());
  const server = await startScripted((_, number) => ({ headers: { RateLimit: `"things";r=${30 - number};t=30` }, body: "{}" }));
  t.after(() => server.close());
  const folder = mkdtempSync(join(tmpdir(), "sluice-"));
  t.after(() => rmSync(folder, { recursive: true }));
  // The package as it would be installed.
  mkdirSync(join(folder, "node_modules", "sluice-client"), { recursive: true });
  symlinkSync(DIST, join(folder, "node_modules", "sluice-client", "dist"));
  writeFileSync(join(folder, "node_modules", "sluice-client", "package.json"), readText(new URL("../package.json", import.meta.url)));
  assert.ok(examples.length >= 5);
  const log = console.log;
  for (const [number, example] of examples.entries()) {
    // On a busy machine an answer may take longer than an example waits.
    const patient = example.replaceAll('new Client({ url: "http://127.0.0.1:8080" })', 'new Client({ url: "http://127.0.0.1:8080", timeoutMs: 10_000 })');
    const code = patient.replaceAll("http://127.0.0.1:8080", daemon.url).replaceAll("https://api.example.com", server.url)
      .replaceAll("timeoutMs: 100,", "timeoutMs: 10_000,");
    const file = join(folder, `example${number}.mjs`);
    writeFileSync(file, code);
    const said = [];
    console.log = (...words) => said.push(words.join(" "));
    try {
      await import(pathToFileURL(file));
    } finally {
      console.log = log;
    }
    for (const [, shown] of example.matchAll(/console\.log\(.*\); \/\/ (wait .*)$/gm)) assert.ok(said.includes(shown), said.join("\n"));
  }
});
