// Puts a packed style and script in place, and unpacks the HIT for the script.
(async function () {
  const unpacked = (id) => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')));
  };
  try {
    let text = '';
    for (const byte of new Uint8Array(await unpacked('data').arrayBuffer())) text += String.fromCharCode(byte);
    document.getElementById('data').textContent = btoa(text);
  } catch (e) { /* the script says that there are no items */ }
  const settings = document.getElementById('settings');
  settings.textContent = await unpacked('settings').text();
  for (const tag of ['style', 'script']) {
    const node = document.createElement(tag);
    node.textContent = await unpacked('packed-' + tag).text();
    document.head.append(node);
  }
})();
