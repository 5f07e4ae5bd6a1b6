/** What a browser gets: nothing of Node.js. */

import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";

import { type Rollup, build } from "vite";
import { expect, test } from "vitest";

/** All modules that an entry point pulls in. */
async function modulesOf(entry: string): Promise<string[]> {
  const found = new Set<string>();
  const output = (await build({
    configFile: false,
    logLevel: "silent",
    root: fileURLToPath(new URL("..", import.meta.url)),
    build: {
      write: false,
      rollupOptions: {
        input: fileURLToPath(new URL(`../src/${entry}.ts`, import.meta.url)),
        preserveEntrySignatures: "strict",
        treeshake: false,
      },
    },
    plugins: [
      {
        name: "modules",
        enforce: "pre",
        resolveId: (id) => {
          found.add(id);
        },
      },
    ],
  })) as Rollup.RollupOutput;
  return [...found, ...output.output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []))];
}

function ofNode(modules: string[]): string[] {
  return modules.filter((id) => id.startsWith("node:") || builtinModules.includes(id) || id.includes("connect-node"));
}

test("the entry point for browsers pulls in nothing of Node.js, and the other one can't be bundled", async () => {
  const browser = await modulesOf("index");
  expect(browser.some((id) => id.includes("connect-web"))).toBe(true);
  expect(ofNode(browser)).toEqual([]);
  await expect(modulesOf("node")).rejects.toThrow("__vite-browser-external:node:");
});
