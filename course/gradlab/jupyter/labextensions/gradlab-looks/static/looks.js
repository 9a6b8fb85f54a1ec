// Two styles for the whole page, and no panel at the left in a narrow window. looks.css fixes parts of JupyterLab's style that are hard to read in a small window.
// card.css styles the cards of checks, which contain it too but lose it in an untrusted notebook. No build.

{
  const script = document.currentScript.src;
  const NARROW = 700; // px of a window in which the panel at the left would hide the page

  const plugin = {
    id: 'gradlab-looks:plugin',
    autoStart: true,
    activate: ({ restored, shell }) => {
      for (const name of ['looks.css', 'card.css']) {
        const link = document.createElement('link');
        link.rel = 'stylesheet';
        link.href = new URL(name, script).href;
        document.head.append(link);
      }
      const narrow = window.matchMedia(`(max-width: ${NARROW}px)`);
      const collapse = () => narrow.matches && shell.collapseLeft();
      restored.then(collapse);
      narrow.addEventListener('change', collapse);
    }
  };

  const entry = { init: () => {}, get: async () => () => ({ __esModule: true, default: plugin }) };
  window._JUPYTERLAB = { ...window._JUPYTERLAB, 'gradlab-looks': entry };
}
