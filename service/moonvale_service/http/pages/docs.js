// Shows /openapi.json, and lets its reader make the calls. Everything is put into the page as text, never as HTML.

const MOST_SHOWN = 200_000; // characters of an answer

/** Make an element: h("p", { class: "x" }, "text", another). */
function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child || child === 0));
  return element;
}

const nameOf = (schema) => schema.$ref.split("/").pop();
const shortOf = (name) => name.split(".").pop();
const anchorOf = (name) => `schema-${shortOf(name)}`;
/** Comments are wrapped where the line was full; a line that ends with its sentence was meant to end. */
const unwrapped = (text) => text.trim().replace(/(?<![.:])\n/g, " ");
const paragraphs = (text = "") => h("div", { class: "text" }, text.split(/\n\n+/).map((part) => h("p", {}, unwrapped(part))));
const withoutExample = (text = "") => text.replace(/\s*Examples?(,[^:]*)?: \{[\s\S]*\}\.?\s*$/, "").trim();

/** The example of a schema: its own, or that which its description ends with. */
function exampleOf(schema) {
  if (schema.examples?.length) return schema.examples[0];
  const text = schema.description ?? "";
  const found = /Examples?(?:,[^:]*)?: (\{[\s\S]*\})\.?\s*$/.exec(text);
  try {
    return found ? JSON.parse(found[1].replace(/\s*\n\s*/g, " ")) : undefined;
  } catch {
    return undefined; // some are meant for people alone
  }
}

/** A type in few words, with links to what has a name. */
function typeOf(schema) {
  if (schema.$ref) return h("a", { href: `#${anchorOf(nameOf(schema))}` }, shortOf(nameOf(schema)));
  if (schema.type === "array") return h("span", {}, typeOf(schema.items), "[]");
  if (schema.additionalProperties && schema.type === "object" && !schema.properties) {
    return h("span", {}, "map of ", typeOf(schema.additionalProperties));
  }
  const more = schema.format ?? schema.contentEncoding;
  return h("span", {}, more && more !== "int32" ? `${schema.type} (${more})` : String(schema.type ?? "object"));
}

function rows(entries) {
  return h("table", {}, entries.map(({ name, schema, text, must }) =>
    h("tr", {}, h("th", {}, h("code", {}, name), must && h("span", { class: "must" }, "required")), h("td", { class: "type" }, typeOf(schema)), h("td", {}, unwrapped(text ?? "")))));
}

const fieldsOf = (schema) => Object.entries(schema.properties ?? {}).map(([name, field]) => (
  { name, schema: field, text: field.description, must: schema.required?.includes(name) }));

function pathWords(path) {
  return h("span", { class: "path" }, path.split(/(\{[^}]+\})/).map((part) => (part.startsWith("{") ? h("b", {}, part) : part)));
}

/** Of an example of a request, what goes into the body. */
function bodyExample(schema) {
  const example = exampleOf(schema) ?? {};
  return Object.fromEntries(Object.entries(example).filter(([name]) => name in (schema.properties ?? {})));
}

function curl({ verb, path, body, streams, open }) {
  const url = `${location.origin}${path.replace(/\{[^}]+\}/g, "$GAME")}`;
  const parts = [`curl -s${streams ? "N" : ""}${verb === "DELETE" ? " -X DELETE" : ""} ${url}`];
  if (!open) parts.push('-H "authorization: Bearer $CREDENTIAL"');
  if (body) parts.push(`--json '${JSON.stringify(bodyExample(body))}'`);
  return parts.join(" \\\n  ");
}

/** A response, piece by piece as it comes. */
async function show(response, place) {
  const good = response.ok ? "ok" : "bad";
  const text = h("pre", {});
  place.replaceChildren(h("p", { class: good }, `${response.status} ${response.statusText}`), text);
  if (response.headers.get("content-type") === "application/json") {
    text.textContent = JSON.stringify(await response.json(), null, 2);
  } else if (response.body) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text.textContent = (text.textContent + part.value).slice(-MOST_SHOWN);
      text.scrollTop = text.scrollHeight;
    }
  }
}

let credential = ""; // of this page only: it is kept nowhere

function trial(call) {
  const inputs = new Map();
  const field = (name, attributes = {}) => {
    const input = h("input", { autocomplete: "off", spellcheck: "false", ...attributes });
    inputs.set(name, input);
    return h("label", {}, h("code", {}, name), input);
  };
  const answer = h("div", { class: "answer", "aria-live": "polite" });
  const body = call.body && h("textarea", { spellcheck: "false", "aria-label": "body" }, JSON.stringify(bodyExample(call.body), null, 2));
  const key = h("input", { type: "password", autocomplete: "off", class: "credential" });
  key.addEventListener("input", () => {
    credential = key.value.trim();
    for (const other of document.querySelectorAll("input.credential")) if (other !== key) other.value = key.value;
  });
  let stopping;
  const stop = h("button", { type: "button", class: "plain", hidden: true, onclick: () => stopping?.abort() }, "Stop");

  async function send(event) {
    event.preventDefault();
    stopping?.abort();
    stopping = new AbortController();
    const query = new URLSearchParams();
    const headers = credential ? { authorization: `Bearer ${credential}` } : {};
    let path = call.path;
    for (const { name, in: where } of call.parameters) {
      const value = inputs.get(name).value.trim();
      if (where === "path") path = path.replace(`{${name}}`, encodeURIComponent(value.replace(/^games\//, "")));
      else if (value && where === "header") headers[name] = value;
      else if (value) query.append(name, value);
    }
    if (body) headers["content-type"] = "application/json";
    stop.hidden = !call.streams;
    try {
      const request = { method: call.verb, headers, body: body?.value, signal: stopping.signal, cache: "no-store" };
      await show(await fetch(query.size ? `${path}?${query}` : path, request), answer);
    } catch (error) {
      if (error.name !== "AbortError") answer.replaceChildren(h("p", { class: "bad" }, String(error)));
    }
    stop.hidden = true;
  }

  return h("details", { class: "try" }, h("summary", {}, "Try it"), h("form", { onsubmit: send },
    h("label", {}, h("code", {}, "credential"), key),
    call.parameters.map(({ name, in: where }) => field(name, { required: where === "path" })),
    body, h("p", {}, h("button", {}, "Send"), stop), answer));
}

function operation(path, verb, made) {
  const body = made.requestBody?.content["application/json"].schema;
  const good = made.responses["200"];
  const kinds = Object.keys(good.content);
  const call = {
    path, body, verb: verb.toUpperCase(), parameters: made.parameters ?? [], streams: kinds.includes("text/event-stream"),
    open: made.security?.some((each) => Object.keys(each).length === 0),
  };
  const bad = Object.entries(made.responses).filter(([code]) => code !== "200");
  return h("section", { class: "card", id: made.operationId },
    h("header", {}, h("span", { class: `verb ${verb}` }, call.verb), h("h3", {}, made.operationId), pathWords(path),
      h("span", { class: "lock" }, call.open ? "open to all" : "needs a credential")),
    paragraphs(made.description.replace(/\nErrors: [\s\S]*$/, "")),
    call.parameters.length > 0 && [h("h4", {}, "Parameters"), rows(call.parameters.map(
      ({ name, in: where, schema, description, required }) => ({ name: where === "header" ? `${name} (header)` : name, schema, text: description ?? schema.description, must: required })))],
    body && Object.keys(body.properties).length > 0 && [h("h4", {}, "Body"), rows(fieldsOf(body))],
    h("h4", {}, call.streams ? "Stream" : "Answer"),
    h("p", {}, typeOf(good.content[kinds[0]].schema), h("span", { class: "quiet" }, ` as ${kinds.join(" or ")}`)),
    h("h4", {}, "Other answers"),
    h("table", {}, bad.map(([code, { description }]) => {
      const [head, reasons] = description.split(" Reasons: ");
      const names = reasons?.replace(/\.$/, "").split(", ").map((name) => h("code", { class: "reason" }, name));
      return h("tr", {}, h("th", {}, code), h("td", {}, names ?? head));
    })),
    h("h4", {}, "curl"), h("pre", {}, curl(call)), trial(call));
}

function schema(name, made) {
  const example = exampleOf(made);
  const [text, ...values] = made.enum ? made.description.split(/\n+- /) : [withoutExample(made.description)];
  return h("section", { class: "card", id: anchorOf(name) },
    h("header", {}, h("h3", {}, shortOf(name)), h("code", { class: "quiet" }, name)), paragraphs(text),
    made.enum && h("table", {}, values.map((value) => {
      const [, label, meaning] = /^(\w+): ([\s\S]*)$/.exec(value) ?? [undefined, value, ""];
      return h("tr", {}, h("th", {}, h("code", {}, label)), h("td", {}, meaning));
    })),
    made.properties && Object.keys(made.properties).length > 0 && rows(fieldsOf(made)),
    example && [h("h4", {}, "Example"), h("pre", {}, JSON.stringify(example, null, 2))]);
}

function draw(api) {
  const calls = Object.entries(api.paths).flatMap(([path, verbs]) => Object.entries(verbs).map(([verb, made]) => ({ path, verb, made })));
  const schemas = Object.entries(api.components.schemas);
  document.getElementById("contents").replaceChildren(
    h("h1", {}, api.info.title), h("span", { class: "quiet" }, `${api.info.version} · OpenAPI ${api.openapi}`),
    h("h2", {}, "Calls"),
    h("ul", {}, calls.map(({ verb, made }) => h("li", {}, h("a", { href: `#${made.operationId}` }, h("span", { class: `verb ${verb}` }, verb.toUpperCase()), made.operationId)))),
    h("h2", {}, "Messages"),
    h("ul", {}, schemas.map(([name]) => h("li", { class: "schema" }, h("a", { href: `#${anchorOf(name)}` }, shortOf(name))))));
  document.getElementById("page").replaceChildren(
    h("h1", {}, api.info.title), h("p", { class: "quiet" }, api.info.summary ?? ""), paragraphs(api.info.description),
    h("p", {}, h("a", { href: "/openapi.json" }, "/openapi.json"), " is the same for programs."),
    h("h2", {}, "Calls"), ...calls.map(({ path, verb, made }) => operation(path, verb, made)),
    h("h2", {}, "Messages"), ...schemas.map(([name, made]) => schema(name, made)));
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

try {
  const response = await fetch("/openapi.json");
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  draw(await response.json());
} catch (error) {
  document.getElementById("page").replaceChildren(h("p", { class: "bad" }, `/openapi.json can't be shown: ${error.message}`));
  throw error;
}
