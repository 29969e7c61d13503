// One file: script and style are put into the page, so that it opens from a folder without a server
// and asks no network for anything.
import { existsSync, readFileSync } from "node:fs";
import { defineConfig } from "vite";

// Everything that ends up in the page, with the license of each, read from the packages themselves.
const EMBEDDED = ["echarts", "zrender", "tslib"];

function packages() {
  return EMBEDDED.map((name) => {
    const about = JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url), "utf8"));
    const texts = ["LICENSE", "LICENSE.txt", "NOTICE"].map((file) => new URL(`node_modules/${name}/${file}`, import.meta.url));
    const text = texts.filter((file) => existsSync(file)).map((file) => readFileSync(file, "utf8").trim()).join("\n\n");
    return { name, version: about.version, license: about.license, text };
  });
}

// "</script" and "<!--" would end or change the element that the script stands in.
function escapeScript(code) {
  return code.replace(/<\/(script)/gi, "<\\/$1").replace(/<!--/g, "<\\!--");
}

function oneFile() {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      let html = page.source;
      for (const [name, item] of Object.entries(bundle)) {
        if (name.endsWith(".js")) {
          html = html.replace(/<script type="module"[^>]*><\/script>\n?/, "");
          html = html.replace("</body>", () => `<script>${escapeScript(item.code)}</script>\n</body>`);
          delete bundle[name];
        } else if (name.endsWith(".css")) {
          html = html.replace(/<link rel="stylesheet"[^>]*>\n?/, () => `<style>${item.source.trim()}</style>\n`);
          delete bundle[name];
        }
      }
      page.source = html;
      page.fileName = "report.html";
    },
  };
}

export default defineConfig({
  base: "./",
  define: { EMBEDDED_PACKAGES: JSON.stringify(packages()) },
  plugins: [oneFile()],
  build: {
    outDir: "out",
    target: "es2020",
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: { output: { format: "iife", inlineDynamicImports: true } },
  },
});
