// Those of these CSS selectors that are none.
(selectors) => selectors.filter((selector) => {
  try {
    document.querySelector(selector);
    return false;
  } catch {
    return true;
  }
})
