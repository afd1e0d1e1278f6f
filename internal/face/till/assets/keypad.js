// The keypad, the same for amounts and PINs.
import { t } from "./words.js";

export function keypad(pad, press) {
  for (const key of ["1", "2", "3", "4", "5", "6", "7", "8", "9", pad.closest("[data-view=pin]") ? "" : "00", "0", "back"]) {
    if (key === "") {
      pad.append(document.createElement("span"));
      continue;
    }
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = key === "back" ? "⌫" : key;
    if (key === "back") button.setAttribute("aria-label", t("till.gift.delete"));
    button.addEventListener("click", () => press(key));
    pad.append(button);
  }
}
