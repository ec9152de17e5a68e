(function () {
  "use strict";
  var root = document.documentElement;
  var figures = JSON.parse(document.getElementById("figures").textContent);
  var colours = ["color", "fillcolor", "gridcolor", "linecolor", "zerolinecolor", "bgcolor",
    "bordercolor"];
  var fine = window.matchMedia("(pointer: fine)").matches;
  var config = { displayModeBar: false, responsive: true, showTips: false, scrollZoom: false };
  var paper = 640; // CSS pixels that fit on A4 and on Letter within the margins

  // "--m0" or "--m0/0.16": a CSS variable, and how much of it
  function colour(token) {
    var parts = token.split("/");
    var value = getComputedStyle(root).getPropertyValue(parts[0]).trim();
    if (parts.length === 1) { return value; }
    var rgb = [1, 3, 5].map(function (at) { return parseInt(value.slice(at, at + 2), 16); });
    return "rgba(" + rgb.join(",") + "," + parts[1] + ")";
  }

  // a copy with the colours of the present theme; text of users stands under other keys
  function themed(value, key) {
    if (Array.isArray(value)) { return value.map(function (one) { return themed(one, ""); }); }
    if (value !== null && typeof value === "object") {
      var copy = {};
      Object.keys(value).forEach(function (name) { copy[name] = themed(value[name], name); });
      return copy;
    }
    var token = typeof value === "string" && colours.indexOf(key) >= 0 && value.startsWith("--");
    return token ? colour(value) : value;
  }

  function draw(figure) {
    var box = document.querySelector('[data-figure="' + figure.name + '"]');
    var layout = themed(figure.layout, "");
    var narrow = box.clientWidth < 480;
    layout.dragmode = fine ? "zoom" : false;
    if (root.classList.contains("printing")) {
      layout.width = Math.min(paper, box.closest(".grid") ? paper / 2 - 20 : paper);
      layout.height = figure.height || 280;
    }
    if (figure.height) {
      box.style.height = figure.height + "px";
      layout.yaxis.fixedrange = true;
    }
    if (narrow) { layout.font.size = 12; }
    return window.Plotly.react(box, themed(figure.data, ""), layout, config);
  }

  function swatch(entry) {
    var space = "http://www.w3.org/2000/svg";
    var svg = document.createElementNS(space, "svg");
    svg.setAttribute("width", "22");
    svg.setAttribute("height", "12");
    svg.setAttribute("aria-hidden", "true");
    var shape = document.createElementNS(space, entry.dash === "mark" ? "circle" : "line");
    if (entry.dash === "mark") {
      shape.setAttribute("cx", "11");
      shape.setAttribute("cy", "6");
      shape.setAttribute("r", "4.5");
      shape.style.fill = "var(" + entry.colour + ")";
    } else {
      shape.setAttribute("x1", "1");
      shape.setAttribute("x2", "21");
      shape.setAttribute("y1", "6");
      shape.setAttribute("y2", "6");
      shape.setAttribute("stroke-width", entry.dash === "fill" ? "10" : "2.5");
      if (entry.dash === "dash") { shape.setAttribute("stroke-dasharray", "6 3"); }
      if (entry.dash === "dot") { shape.setAttribute("stroke-dasharray", "2.5 2.5"); }
      shape.style.stroke = "var(" + entry.colour + ")";
    }
    svg.appendChild(shape);
    return svg;
  }

  function toggle(figure, place, button) {
    var show = button.getAttribute("aria-pressed") === "false";
    button.setAttribute("aria-pressed", String(show));
    figure.groups.forEach(function (group, i) {
      if (group === place) { figure.data[i].visible = show; }
    });
    draw(figure);
  }

  function legend(figure) {
    var list = document.querySelector('[data-legend="' + figure.name + '"]');
    figure.legend.forEach(function (entry, place) {
      var item = document.createElement("li");
      var button = document.createElement("button");
      var label = document.createElement("span");
      label.textContent = entry.label;
      button.type = "button";
      button.title = "Show or hide";
      button.setAttribute("aria-pressed", String(entry.shown));
      button.appendChild(swatch(entry));
      button.appendChild(label);
      button.addEventListener("click", function () { toggle(figure, place, button); });
      item.appendChild(button);
      list.appendChild(item);
    });
    if (figure.legend.length === 0) { list.remove(); }
  }

  function all() { return Promise.all(figures.map(draw)); }

  function printing(on) {
    root.classList.toggle("printing", on);
    if (on) {
      document.querySelectorAll("details.measured").forEach(function (one) { one.open = true; });
    }
    // a width once given would stay
    document.querySelectorAll(".plot").forEach(function (box) { window.Plotly.purge(box); });
    return all();
  }

  figures.forEach(legend);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", all);
  window.matchMedia("print").addEventListener("change", function (now) { printing(now.matches); });
  window.addEventListener("beforeprint", function () { printing(true); });
  window.addEventListener("afterprint", function () { printing(false); });
  all().then(function () { root.setAttribute("data-drawn", String(figures.length)); });
})();
