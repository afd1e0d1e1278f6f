// A part of a picture is drawn with a finger or a mouse. Without this, it is typed in percent.
const names = ["left", "top", "width", "height"];

function crops(details) {
  const place = details.closest(".field");
  const file = place.querySelector("input[type=file]");
  const there = place.querySelector("img.thumb");
  const typed = Object.fromEntries(names.map((name) => [name, details.querySelector(`input[name$=".${name}"]`)]));
  const area = document.createElement("div");
  const shown = document.createElement("img");
  const box = document.createElement("span");
  area.className = "crop-area";
  area.hidden = true;
  shown.alt = "";
  shown.draggable = false;
  area.append(shown, box);
  details.append(area);

  // What is typed, as a part; null: it is none.
  function part() {
    const number = (name, otherwise) => (typed[name].value.trim() === "" ? otherwise : Number.parseInt(typed[name].value, 10));
    const left = number("left", 0);
    const top = number("top", 0);
    const width = number("width", 100 - left);
    const height = number("height", 100 - top);
    const is = left >= 0 && top >= 0 && width > 0 && height > 0 && left + width <= 100 && top + height <= 100;
    return is ? { left, top, width, height } : null;
  }

  function draw() {
    const is = part();
    box.hidden = !is;
    if (is) for (const name of names) box.style[name] = `${is[name]}%`;
  }

  function show(address) {
    shown.src = address;
    area.hidden = !address;
    draw();
  }

  // Where a pointer is, in percent.
  function at(event) {
    const size = shown.getBoundingClientRect();
    const percent = (from, length, is) => Math.min(100, Math.max(0, Math.round(((is - from) / length) * 100)));
    return [percent(size.left, size.width, event.clientX), percent(size.top, size.height, event.clientY)];
  }

  let begun = null;
  area.addEventListener("pointerdown", (event) => {
    begun = at(event);
    area.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  area.addEventListener("pointermove", (event) => {
    if (!begun) return;
    const [x, y] = at(event);
    const width = Math.abs(x - begun[0]);
    const height = Math.abs(y - begun[1]);
    if (width < 1 || height < 1) return;
    typed.left.value = Math.min(x, begun[0]);
    typed.top.value = Math.min(y, begun[1]);
    typed.width.value = width;
    typed.height.value = height;
    draw();
  });
  for (const end of ["pointerup", "pointercancel"]) area.addEventListener(end, () => (begun = null));
  details.addEventListener("input", draw);
  file.addEventListener("change", () => {
    for (const name of names) typed[name].value = "";
    if (!file.files[0]) return show(there ? there.src : "");
    const reader = new FileReader();
    reader.addEventListener("load", () => show(reader.result));
    reader.readAsDataURL(file.files[0]);
  });
  show(there ? there.src : "");
}

document.querySelectorAll("details.crop").forEach(crops);
