// Shows openapi.json of this server. Nothing is asked of any other host: no validator badge, no top bar.
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#reference",
  layout: "BaseLayout",
  validatorUrl: null,
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
});
