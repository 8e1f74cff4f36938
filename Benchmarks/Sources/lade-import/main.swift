// lade-import --database PATH | --postgres CONNECTION --schema NAME --source PATH [--model MODEL] [--entity ENTITY] [--mode MODE]
//
// Imports a file of people, of their clubs, or of another model's objects (“*”: a feed of several files) into a store and prints
// {"inserted": I, "updated": U, "unchanged": N, "rejected": R, "seconds": S}. A process of its own, so that its peak memory
// is the import's and nothing else's.

import Glibc

func complain(_ message: String) {
  _ = message.withCString { write(STDERR_FILENO, $0, strlen($0)) }
}

guard let job = Job(arguments: Array(CommandLine.arguments.dropFirst())) else {
  complain(Job.usage)
  exit(64)
}

do {
  let clock = ContinuousClock()
  let start = clock.now
  let result = try await job.run()
  let seconds = (clock.now - start) / .seconds(1)
  print(
    """
    {"inserted": \(result.inserted), "updated": \(result.updated), "unchanged": \(result.unchanged), \
    "rejected": \(result.rejected), "seconds": \(seconds)}
    """)
} catch {
  complain("lade-import: \(error)\n")
  exit(1)
}
