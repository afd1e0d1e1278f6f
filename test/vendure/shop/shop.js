// A shop of Vendure with one thing to buy, one gift to buy, and two ways to pay. Its database, its e-mails and its port come
// from the environment: the database is PostgreSQL at SHOP_DATABASE, or else SQLite. It prints "ready" once it listens.
const {
  bootstrap, ChannelService, CountryService, defaultConfig, DefaultJobQueuePlugin, DefaultLogger, dummyPaymentHandler,
  JobQueueService, LanguageCode, LogLevel, ProductService, ProductVariantService, RequestContextService, TaxCategoryService,
} = require("@vendure/core");
const {populateInitialData} = require("@vendure/core/cli");
const {defaultEmailHandlers, EmailPlugin, FileBasedTemplateLoader} = require("@vendure/email-plugin");
const path = require("node:path");
const {gifts} = require("./gifts.js");

// SQLite in a package that needs no compiler. It has no functions of one's own, of which Vendure wants one for regular
// expressions, and takes a null that is the only value of a statement for an object of names.
class SQLite extends require("libsql") {
  function() { return this; }

  prepare(sql) {
    const statement = super.prepare(sql);
    for (const name of ["all", "get", "run"]) {
      const call = statement[name].bind(statement);
      statement[name] = (...values) => call(values);
    }
    return statement;
  }
}

const {SHOP_DATA, SHOP_DATABASE, SHOP_PORT} = process.env;
const templates = path.join(path.dirname(require.resolve("@vendure/email-plugin/package.json")), "templates");

const config = {
  logger: new DefaultLogger({level: LogLevel.Debug, timestamp: false}),
  apiOptions: {port: Number(SHOP_PORT), hostname: "127.0.0.1", adminApiPath: "admin-api", shopApiPath: "shop-api"},
  authOptions: {tokenMethod: "bearer", superadminCredentials: {identifier: "admin", password: "admin"},
    requireVerification: false},
  dbConnectionOptions: {synchronize: true, logging: false, ...(SHOP_DATABASE ? {type: "postgres", url: SHOP_DATABASE}
    : {type: "better-sqlite3", driver: SQLite, database: path.join(SHOP_DATA, "shop.sqlite")})},
  paymentOptions: {paymentMethodHandlers: [dummyPaymentHandler]},
  plugins: [
    gifts,
    DefaultJobQueuePlugin.init({pollInterval: 100, backoffStrategy: () => 200}),
    EmailPlugin.init({devMode: true, outputPath: path.join(SHOP_DATA, "emails"), route: "mailbox",
      handlers: defaultEmailHandlers, templateLoader: new FileBasedTemplateLoader(templates),
      globalTemplateVars: {fromAddress: "shop@example.com"}}),
  ],
};

const goods = {
  defaultLanguage: LanguageCode.en, defaultZone: "America",
  countries: [{name: "United States", code: "US", zone: "America"}],
  taxRates: [{name: "None", percentage: 0}], collections: [],
  shippingMethods: [{name: "Post", price: 0}],
  paymentMethods: [
    {name: "gift", handler: {code: "boon-gift", arguments: []}},
    {name: "card", handler: {code: dummyPaymentHandler.code, arguments: [{name: "automaticSettle", value: "true"}]}},
  ],
};

async function stock(app) {
  const ctx = await app.get(RequestContextService).create({apiType: "admin"});
  const sell = async (name, price, customFields) => {
    const translations = (fields) => [{languageCode: LanguageCode.en, ...fields}];
    const product = await app.get(ProductService).create(ctx, {translations: translations({name, slug: name, description: ""})});
    const [variant] = await app.get(ProductVariantService).create(ctx, [{productId: product.id, sku: name, price,
      translations: translations({name}), trackInventory: "FALSE", customFields}]);
    console.log(`sells ${name} as ${variant.id}`);
  };
  await sell("coffee", 3000, {});
  await sell("gift", 2500, {boonGift: true});
}

async function main() {
  const app = await bootstrap(config);
  const ctx = await app.get(RequestContextService).create({apiType: "admin"});
  if ((await app.get(ProductService).findAll(ctx)).totalItems === 0) {
    await populateInitialData(app, goods);
    await stock(app);
  }
  await app.get(JobQueueService).start();
  console.log("ready");
}

main().catch((failure) => { console.error(failure); process.exit(1); });
