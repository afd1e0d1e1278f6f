// A colour is chosen from a picker beside its field. Without this, it is typed. No colour is an empty field.
for (const typed of document.querySelectorAll("input[data-color]")) {
  const label = typed.closest("label");
  const picker = document.createElement("input");
  picker.type = "color";
  picker.setAttribute("aria-label", label.firstChild.textContent.trim());
  const show = () => {
    const shown = typed.value || typed.placeholder;
    if (/^#[0-9a-f]{6}$/i.test(shown)) picker.value = shown;
  };
  picker.addEventListener("input", () => (typed.value = picker.value));
  typed.addEventListener("input", show);
  show();
  label.nextElementSibling.append(picker); // whose place is kept, so that nothing moves
}
