import { defineConfig } from "vite";

// One script and one style sheet, without module loading: they are put inside of a page.
export default defineConfig({
  logLevel: "warn",
  build: {
    target: ["es2020", "chrome96", "firefox95", "safari15"],
    lib: { entry: "src/main.ts", formats: ["iife"], name: "coppice", fileName: () => "report.js" },
    rollupOptions: { output: { assetFileNames: "report[extname]" } },
    outDir: "dist",
    emptyOutDir: false,
  },
});
