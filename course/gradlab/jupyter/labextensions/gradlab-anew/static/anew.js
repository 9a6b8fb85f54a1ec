// Begin This Chapter Anew, in the notebook's context menu and among the commands: the kernel puts the chapter back as it
// was released and keeps the old copy. Written as JupyterLab loads it: no build.

(() => {
  const COMMAND = 'gradlab:begin-anew';
  const CHAPTER = /(^|\/)\d\d_\w+\/\d\d_\w+\.ipynb$/;
  const CODE = 'from gradlab.anew import begin_anew';

  let modules; // of JupyterLab, by name

  async function beginAnew(app, panel) {
    const { Dialog, showDialog } = await modules('@jupyterlab/apputils');
    const answer = await showDialog({
      title: 'Begin this chapter anew?',
      body: 'The notebook becomes as it was released, its checks are not tried and its guesses are forgotten. Your copy is kept in a folder beside it.',
      buttons: [Dialog.cancelButton(), Dialog.okButton({ label: 'Begin Anew' })]
    });
    if (!answer.button.accept) return;
    await panel.context.save();
    await panel.sessionContext.session.kernel.restart();
    const reply = await panel.sessionContext.session.kernel.requestExecute({
      code: CODE,
      store_history: false,
      user_expressions: { said: 'begin_anew()' }
    }).done;
    const said = reply.content.user_expressions?.said;
    const words = said?.data?.['text/plain']?.slice(1, -1) ?? said?.evalue ?? reply.content.evalue;
    await panel.context.revert();
    await panel.sessionContext.session.kernel.restart();
    app.commands.execute('apputils:notify', {
      message: said?.status === 'ok' ? words : `This chapter could not be begun anew: ${words}`,
      type: said?.status === 'ok' ? 'success' : 'error',
      options: { autoClose: false }
    });
  }

  const plugin = {
    id: 'gradlab-anew:plugin',
    autoStart: true,
    activate: async app => {
      const chapter = () => {
        const panel = app.shell.currentWidget;
        return CHAPTER.test(panel?.context?.path ?? '') && panel.sessionContext?.session?.kernel ? panel : null;
      };
      app.commands.addCommand(COMMAND, {
        label: 'Begin This Chapter Anew…',
        caption: 'The chapter as it was released; your copy is kept beside it',
        isVisible: () => chapter() !== null,
        isEnabled: () => chapter() !== null,
        execute: () => beginAnew(app, chapter())
      });
      app.contextMenu.addItem({ command: COMMAND, selector: '.jp-Notebook', rank: 1000 });
    }
  };

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB['gradlab-anew'] = {
    init: scope => {
      modules = async name => (await Object.values(scope[name])[0].get())();
    },
    get: async () => () => ({ __esModule: true, default: plugin })
  };
})();
