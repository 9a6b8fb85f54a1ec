// Show no score, instead of 0 points, for a submission that has none and must be graded manually.
Backbone.View.extend = _.wrap(Backbone.View.extend, function (extend, members, ...others) {
  const render = members.render;
  members.render = function () {
    render.call(this);
    if (this.model.get("needs_manual_grade") && this.model.get("score") === 0) {
      this.$score.attr("data-order", -1).text("no score");
    }
  };
  return extend.call(this, members, ...others);
});
