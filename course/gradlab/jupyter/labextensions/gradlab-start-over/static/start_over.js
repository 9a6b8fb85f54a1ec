// Start This Chapter Over, in the notebook's context menu and among the commands: the kernel restores the released
// chapter and keeps the old copy. JupyterLab loads this file without a build.

(() => {
  const COMMAND = 'gradlab:start-over';
  const CHAPTER = /(^|\/)\d\d_\w+\/\d\d_\w+\.ipynb$/;
  const READ_MS = 10000; // how long the notice stays if all went well
  const CODE = 'from gradlab.start_over import start_over';

  // A text in the reader's language.
  const _ = text =>
    JSON.parse(JSON.parse(document.getElementById('jupyter-config-data').textContent).gradlabTexts ?? '{}')[text] ?? text;

  let modules; // JupyterLab's modules, by name

  async function startOver(app, panel) {
    const { Dialog, showDialog } = await modules('@jupyterlab/apputils');
    const answer = await showDialog({
      title: _('Start this chapter over?'),
      body: _(
        'The notebook goes back to its released state, and its checks and guesses are forgotten. Your copy is kept in a folder beside it.'
      ),
      buttons: [Dialog.cancelButton(), Dialog.okButton({ label: _('Start Over') })]
    });
    if (!answer.button.accept) return;
    await panel.context.save();
    await panel.sessionContext.session.kernel.restart();
    const reply = await panel.sessionContext.session.kernel.requestExecute({
      code: CODE,
      store_history: false,
      user_expressions: { said: 'start_over()' }
    }).done;
    const said = reply.content.user_expressions?.said;
    const words = said?.data?.['text/plain']?.slice(1, -1) ?? said?.evalue ?? reply.content.evalue;
    await panel.context.revert();
    await panel.sessionContext.session.kernel.restart();
    app.commands.execute('apputils:notify', {
      message: said?.status === 'ok' ? words : _('This chapter could not be started over: {why}').replace('{why}', () => words),
      type: said?.status === 'ok' ? 'success' : 'error',
      options: { autoClose: said?.status === 'ok' && READ_MS }
    });
  }

  const plugin = {
    id: 'gradlab-start-over:plugin',
    autoStart: true,
    activate: async app => {
      const chapter = () => {
        const panel = app.shell.currentWidget;
        return CHAPTER.test(panel?.context?.path ?? '') && panel.sessionContext?.session?.kernel ? panel : null;
      };
      app.commands.addCommand(COMMAND, {
        label: _('Start This Chapter Over…'),
        caption: _('Restore the released chapter; your copy is kept beside it'),
        isVisible: () => chapter() !== null,
        isEnabled: () => chapter() !== null,
        execute: () => startOver(app, chapter())
      });
      app.contextMenu.addItem({ command: COMMAND, selector: '.jp-Notebook', rank: 1000 });
    }
  };

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB['gradlab-start-over'] = {
    init: scope => {
      modules = async name => (await Object.values(scope[name])[0].get())();
    },
    get: async () => () => ({ __esModule: true, default: plugin })
  };
})();
