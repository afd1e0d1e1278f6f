// Pairs this device: the token stands behind the # of the link, so that it is in no log.
const told = document.getElementById("told");
document.getElementById("pair").addEventListener("click", async () => {
  const token = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  const response = await fetch("/till/pair", {
    method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({token}),
  });
  const answer = await response.json();
  if (response.ok) location.replace("/till");
  else told.textContent = answer.messages[0].text;
});
