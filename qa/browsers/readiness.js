// Where the load stands.  `asked` grows with each answer that ended.
() => {
  const uri = document.documentURI;
  return {
    uri,
    blank: uri === "about:blank",
    error: /^(chrome-error:|about:(neterror|certerror|blocked))/.test(uri),
    complete: document.readyState === "complete",
    asked: performance.getEntriesByType("resource").length,
    pictures: [...document.images].filter((image) => !image.complete && image.loading !== "lazy").length,
  };
}
