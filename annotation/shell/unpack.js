// Puts a packed style and script in place.
(async function () {
  for (const tag of ['style', 'script']) {
    const bytes = Uint8Array.from(atob(document.getElementById('packed-' + tag).textContent), (c) => c.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    const node = document.createElement(tag);
    node.textContent = await new Response(plain).text();
    document.head.append(node);
  }
})();
