// The camera. Where the browser reads QR codes itself it does; elsewhere a decoder is loaded as the camera opens.
const between = 120; // milliseconds between two looks
const widest = 960; // pixels of a picture that the decoder gets

let decoder; // a promise of a function that reads a video

async function native() {
  if (!("BarcodeDetector" in globalThis)) return null;
  const formats = await BarcodeDetector.getSupportedFormats().catch(() => []);
  if (!formats.includes("qr_code")) return null;
  const detector = new BarcodeDetector({ formats: ["qr_code"] });
  try {
    await detector.detect(new ImageData(8, 8));
  } catch {
    return null; // what the device would read with is not there
  }
  return async (video) => (await detector.detect(video)).map((found) => found.rawValue);
}

async function shipped() {
  const base = new URL("./vendor/", import.meta.url);
  await new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = new URL("zxing-reader.js", base);
    script.onload = resolve;
    script.onerror = () => reject(new Error("the decoder did not load"));
    document.head.append(script);
  });
  const packed = await fetch(new URL("zxing-reader.wasm.gz", base));
  if (!packed.ok) throw new Error("the decoder did not load");
  const wasmBinary = await new Response(packed.body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  await ZXingWASM.prepareZXingModule({ overrides: { wasmBinary }, fireImmediately: true });
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return async (video) => {
    const scale = Math.min(1, widest / video.videoWidth);
    canvas.width = Math.round(video.videoWidth * scale);
    canvas.height = Math.round(video.videoHeight * scale);
    context.drawImage(video, 0, 0, canvas.width, canvas.height);
    const picture = context.getImageData(0, 0, canvas.width, canvas.height);
    const found = await ZXingWASM.readBarcodes(picture, { formats: ["QRCode"], tryHarder: true, maxNumberOfSymbols: 1 });
    return found.filter((f) => f.isValid).map((f) => f.text);
  };
}

/**
 * watch shows the camera in a video element and gives each text that it sees to found, until the function that it
 * returns is called. It throws what getUserMedia throws, or when there is no decoder.
 */
export async function watch(video, found) {
  if (!navigator.mediaDevices?.getUserMedia) throw new DOMException("no camera here", "NotFoundError");
  const stream = await navigator.mediaDevices.getUserMedia({
    audio: false, video: { facingMode: { ideal: "environment" }, width: { ideal: 1280 }, height: { ideal: 720 } },
  });
  let ended = false;
  const stop = () => {
    ended = true;
    for (const track of stream.getTracks()) track.stop();
    video.srcObject = null;
  };
  try {
    decoder ??= native().then((own) => own ?? shipped());
    decoder.catch(() => { decoder = undefined; });
    video.srcObject = stream;
    await video.play();
    look(await decoder);
  } catch (failed) {
    stop();
    throw failed;
  }
  async function look(read) {
    while (!ended) {
      if (!document.hidden && video.videoWidth > 0) {
        for (const text of await read(video).catch(() => [])) if (!ended) found(text);
      }
      await new Promise((resolve) => setTimeout(resolve, between));
    }
  }
  return stop;
}
