// lade-import --database PATH --csv PATH
//
// Makes a store at PATH, imports the standard load into it and prints {"rows": R, "seconds": S}. A process of
// its own, so that its peak memory is the import's and nothing else's.

import Glibc

func option(_ name: String) -> String? {
  let arguments = CommandLine.arguments
  guard let place = arguments.firstIndex(of: name), arguments.indices.contains(place + 1) else { return nil }
  return arguments[place + 1]
}

func complain(_ message: String) {
  _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
}

guard let database = option("--database"), let csv = option("--csv") else {
  complain("usage: lade-import --database PATH --csv PATH\n")
  exit(64)
}

do {
  let clock = ContinuousClock()
  let start = clock.now
  let rows = try await importPeople(database: database, csv: csv)
  let seconds = (clock.now - start) / .seconds(1)
  print("{\"rows\": \(rows), \"seconds\": \(seconds)}")
} catch {
  complain("lade-import: \(error)\n")
  exit(1)
}
