// Puts the SVG of the image before this script into the page itself, where JupyterLab's theme reaches it.
// Where scripts do not run (an untrusted notebook, GitHub), the image stays.
(script => {
  const image = script.previousElementSibling;
  if (image?.tagName !== "IMG") return;
  const bytes = Uint8Array.from(atob(image.src.split(",")[1]), c => c.charCodeAt(0));
  image.outerHTML = new TextDecoder().decode(bytes);
})(document.currentScript);
