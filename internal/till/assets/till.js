// Shows where this till stands.
const response = await fetch("/till/state");
const state = await response.json();
document.querySelector("main").textContent = response.ok
  ? `${state.merchant} · ${state.location.name} · ${state.device.name}` : state.messages[0].text;
