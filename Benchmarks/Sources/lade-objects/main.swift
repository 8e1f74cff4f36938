// lade-objects prepare FILE COUNT
// lade-objects measure FILE WORK-FOLDER
// lade-objects fetch FILE TIMES
// lade-objects lookup FILE TIMES
//
// `fetch` and `lookup` are for a profiler: one fetches every item again and again, each time in a context of its own, and
// prints the milliseconds of each; the other looks up registered objects, and prints the nanoseconds of one. The object layer's side of `bench objects`: prints the seconds of each piece of work as JSON.

import BenchSupport
import Foundation
import ManagedObjects
import SQLiteStore

let arguments = CommandLine.arguments
do {
  switch (arguments.count, arguments.dropFirst().first) {
  case (4, "prepare"): try Items.prepare(arguments[2], count: Int(arguments[3]) ?? 0)
  case (4, "measure"):
    var timings = Timings()
    try measureFetches(arguments[2], &timings)
    try measureInsert(arguments[3] + "/items.sqlite", &timings)
    try measureContexts(arguments[2], &timings)
    try timings.report()
  case (4, "fetch"): try repeatFetch(arguments[2], times: Int(arguments[3]) ?? 1)
  case (4, "lookup"): try repeatLookUp(arguments[2], times: Int(arguments[3]) ?? 1)
  default:
    let usage = "usage: lade-objects prepare FILE COUNT | measure FILE FOLDER | fetch|lookup FILE TIMES\n"
    FileHandle.standardError.write(Data(usage.utf8))
    exit(64)
  }
} catch {
  FileHandle.standardError.write(Data("lade-objects: \(error)\n".utf8))
  exit(1)
}
