// The files of a drop, those in folders too, each with its path.

export async function filesIn(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ file, path: file.name }));
  return (await Promise.all(entries.map((entry) => below(entry, "")))).flat();
}

async function below(entry, folder) {
  const path = folder ? `${folder}/${entry.name}` : entry.name;
  if (entry.isFile) return [{ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), path }];
  const reader = entry.createReader();
  const found = [];
  for (;;) {  // a browser gives them by the hundred
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break;
    found.push(...some);
  }
  return (await Promise.all(found.map((each) => below(each, path)))).flat();
}
