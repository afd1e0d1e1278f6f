// What a call makes, the calls after it are about.
const made = MADE;
const look = value => {
  for (const [name, one] of Object.entries(value || {})) {
    if (typeof one === "object") look(one);
    else if (made.includes(name)) {
      pm.collectionVariables.set(name, one);
      made.splice(made.indexOf(name), 1);
    }
  }
};
if (pm.request.method === "POST" && pm.response.code < 300) look(pm.response.json());
