// Where the load stands.  `asked` grows with each answer that ended.
() => {
  // By Document's own getters: `<img name=images>` would stand before them (HTML, named access).
  const page = (name) => Reflect.get(Document.prototype, name, document);
  const uri = page("documentURI");
  return {
    uri,
    blank: uri === "about:blank",
    error: /^(chrome-error:|about:(neterror|certerror|blocked))/.test(uri),
    complete: page("readyState") === "complete",
    asked: performance.getEntriesByType("resource").length,
    pictures: [...page("images")].filter((image) => !image.complete && image.loading !== "lazy").length,
  };
}
