(function () {
  "use strict";
  var root = document.documentElement;
  var data = JSON.parse(document.getElementById("data").textContent);
  var space = "http://www.w3.org/2000/svg";
  var near = 48; // pixels of a drawing within which a point is found

  function each(selector, within, act) {
    Array.prototype.forEach.call(within.querySelectorAll(selector), act);
  }

  // ---- files: made here, because the page sends no requests

  function save(blob, name) {
    var link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    document.body.appendChild(link);
    link.click();
    link.remove();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
  }

  // a drawing by itself: on white, with its title and its legend, without what is switched off
  function alone(figure) {
    var drawn = figure.querySelector(".drawing").cloneNode(true); // the widest is first
    each(".head, .key, .head *, .key *", drawn, function (one) {
      if (!one.hasAttribute("data-legend")) { one.removeAttribute("display"); }
    });
    each('[display="none"], .ring', drawn, function (one) { one.remove(); });
    each(".lit", drawn, function (one) { one.classList.remove("lit"); });
    var box = drawn.getAttribute("data-saved").split(" ");
    var title = document.createElementNS(space, "title");
    var back = document.createElementNS(space, "rect");
    title.textContent = figure.getAttribute("data-title");
    ["x", "y", "width", "height"].forEach(function (name, at) { back.setAttribute(name, box[at]); });
    back.setAttribute("fill", "#ffffff");
    drawn.insertBefore(back, drawn.firstChild);
    drawn.insertBefore(title, drawn.firstChild);
    drawn.setAttribute("viewBox", box.join(" "));
    drawn.setAttribute("width", box[2]);
    drawn.setAttribute("height", box[3]);
    return { text: new XMLSerializer().serializeToString(drawn), width: +box[2], height: +box[3] };
  }

  function saveFigure(figure, kind) {
    var one = alone(figure);
    var name = "fullrank-" + figure.getAttribute("data-figure") + "." + kind;
    var file = new Blob([one.text], { type: "image/svg+xml" });
    if (kind === "svg") { save(file, name); return; }
    var image = new Image();
    image.onload = function () {
      var canvas = document.createElement("canvas");
      canvas.width = 2 * one.width;
      canvas.height = 2 * one.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob(function (blob) { save(blob, name); }, "image/png");
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(one.text);
  }

  each("[data-csv]", document, function (button) {
    var name = button.getAttribute("data-csv");
    button.addEventListener("click", function () {
      save(new Blob([data.csv[name]], { type: "text/csv" }), "fullrank-" + name + ".csv");
    });
  });

  // ---- legends: a press shows and hides, pointing lifts one out

  function parts(figure, entry, act) { each('[data-legend="' + entry + '"]', figure, act); }

  function toggle(figure, button) {
    var show = button.getAttribute("aria-pressed") === "false";
    button.setAttribute("aria-pressed", String(show));
    parts(figure, button.getAttribute("data-entry"), function (one) {
      if (show) { one.removeAttribute("display"); } else { one.setAttribute("display", "none"); }
    });
  }

  function lift(figure, button, on) {
    var lifted = on && button.getAttribute("aria-pressed") === "true";
    each(".drawing", figure, function (one) { one.classList.toggle("dim", lifted); });
    parts(figure, button.getAttribute("data-entry"), function (one) {
      one.classList.toggle("lit", lifted);
    });
  }

  // ---- labels of points

  function scale(text) {
    var said = text.split(" ");
    var by = said[4] === "log" ? Math.log : function (value) { return value; };
    var low = by(+said[0]), high = by(+said[1]), first = +said[2], last = +said[3];
    return function (value) { return first + (by(value) - low) / (high - low) * (last - first); };
  }

  function nearest(figure, drawn, x, y) {
    var across = scale(drawn.getAttribute("data-x")), up = scale(drawn.getAttribute("data-y"));
    var edge = drawn.getAttribute("data-x").split(" ").map(parseFloat);
    var found = null, best = near * near;
    data.tips[figure.getAttribute("data-figure")].forEach(function (series) {
      var button = figure.querySelector('[data-entry="' + series.legend + '"]');
      if (button && button.getAttribute("aria-pressed") === "false") { return; }
      series.points.forEach(function (point) {
        var px = across(point[0]), py = up(point[1]);
        var far = (px - x) * (px - x) + (py - y) * (py - y);
        if (far < best && px <= edge[3] + 2) {
          best = far;
          found = { x: px, y: py, name: series.name, text: point[2] };
        }
      });
    });
    return found;
  }

  function ring(drawn, at) {
    var one = drawn.querySelector(".ring");
    if (!one) {
      one = document.createElementNS(space, "circle");
      one.setAttribute("class", "ring s-text");
      one.setAttribute("r", "7");
      one.setAttribute("fill", "none");
      one.setAttribute("stroke-width", "1.5");
      drawn.appendChild(one);
    }
    one.setAttribute("cx", at.x);
    one.setAttribute("cy", at.y);
  }

  function point(figure, event) {
    var tip = figure.querySelector(".tip"), drawn = event.target.closest(".drawing");
    var found = null;
    if (drawn) {
      var area = drawn.getBoundingClientRect();
      var size = area.width / drawn.viewBox.baseVal.width;
      found = nearest(figure, drawn, (event.clientX - area.left) / size,
        (event.clientY - area.top) / size);
    }
    if (!found) { leave(figure); return; }
    ring(drawn, found);
    tip.textContent = found.name + "\n" + found.text;
    tip.hidden = false;
    var room = area.width - tip.offsetWidth;
    tip.style.left = Math.max(0, Math.min(room, found.x * size + 12)) + "px";
    tip.style.top = found.y * size + 12 + "px";
  }

  function leave(figure) {
    figure.querySelector(".tip").hidden = true;
    each(".ring", figure, function (one) { one.remove(); });
  }

  var figures = document.querySelectorAll("[data-figure]");
  Array.prototype.forEach.call(figures, function (figure) {
    var plot = figure.querySelector(".plot");
    plot.addEventListener("pointermove", function (event) { point(figure, event); });
    plot.addEventListener("pointerdown", function (event) { point(figure, event); });
    plot.addEventListener("pointerleave", function () { leave(figure); });
    each("[data-save]", figure, function (button) {
      var kind = button.getAttribute("data-save");
      button.addEventListener("click", function () { saveFigure(figure, kind); });
    });
    each("[data-entry]", figure, function (button) {
      button.addEventListener("click", function () {
        lift(figure, button, false);
        toggle(figure, button);
      });
      ["mouseenter", "focus", "mouseleave", "blur"].forEach(function (name, at) {
        button.addEventListener(name, function () { lift(figure, button, at < 2); });
      });
    });
  });

  // ---- the page: hints beside wide tables, the section in view, folds that are printed

  function hints() {
    each(".tabled", document, function (one) {
      var box = one.querySelector(".scroll");
      one.classList.toggle("wider", box.scrollWidth > box.clientWidth + 1);
    });
  }

  function mark(entries) {
    entries.forEach(function (entry) {
      if (!entry.isIntersecting) { return; }
      each("nav a", document, function (link) {
        var here = link.getAttribute("href") === "#" + entry.target.id;
        if (here) { link.setAttribute("aria-current", "true"); }
        else { link.removeAttribute("aria-current"); }
      });
    });
  }

  var seen = new IntersectionObserver(mark, { rootMargin: "-10% 0px -75% 0px" });
  each("main > section", document, function (one) { seen.observe(one); });
  each("details", document, function (one) { one.addEventListener("toggle", hints); });
  each(".compact a", document, function (link) {
    link.addEventListener("click", function () { link.closest("details").open = false; });
  });
  window.addEventListener("resize", hints);
  window.addEventListener("beforeprint", function () {
    each("details.printed", document, function (one) { one.open = true; });
  });
  window.matchMedia("print").addEventListener("change", function (now) {
    if (now.matches) { each("details.printed", document, function (one) { one.open = true; }); }
  });
  hints();
  root.setAttribute("data-drawn", String(figures.length));
})();
