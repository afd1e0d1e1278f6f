// A shop of Medusa with two ways to pay. Its database comes from the environment.
const {defineConfig} = require("@medusajs/framework/utils");
const {plugin, provider} = require("./gifts.js");

module.exports = defineConfig({
  admin: {disable: true},
  plugins: [plugin],
  modules: [{resolve: "@medusajs/medusa/payment", options: {providers: [provider]}}],
  projectConfig: {
    databaseUrl: process.env.SHOP_DATABASE,
    databaseLogging: true,
    http: {storeCors: "", adminCors: "", authCors: "", jwtSecret: "of the tests", cookieSecret: "of the tests"},
  },
});
