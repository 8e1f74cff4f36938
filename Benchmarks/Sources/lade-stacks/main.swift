// lade-stacks STACK COUNT SAVE-EVERY FILE
//
// Imports COUNT objects in the background on one of the three stacks, saving every SAVE-EVERY objects (0: once, at the
// end) up to the disk, and prints what the main queue had of it: {"values": {"total": s, "busy": s, "stall": s}, …}.
// It does so twice, into FILE and into FILE-probed: total and processor time are those of a run that nothing disturbs, the
// longest stall is that of one in which the main queue is asked every millisecond.

import BenchSupport
import Foundation
import ManagedObjects

let arguments = CommandLine.arguments
guard arguments.count == 5, let stack = PersistentContainer.Stack(rawValue: arguments[1]),
  let count = Int(arguments[2]),
  let every = Int(arguments[3])
else {
  FileHandle.standardError.write(Data("usage: lade-stacks STACK COUNT SAVE-EVERY FILE\n".utf8))
  exit(64)
}

let main = MainQueueClock()
Thread.detachNewThread {
  do {
    let run = StackImport(
      container: try StackImport.container(stack, file: arguments[4]), count: count, every: every)
    let probed = StackImport(
      container: try StackImport.container(stack, file: arguments[4] + "-probed"), count: count, every: every)
    var timings = Timings()
    let (total, busy) = try run.measureTime(main)
    timings.values = ["total": total, "busy": busy, "stall": try probed.measureStall()]
    timings.sums = ["stored": Int64(try run.stored()), "stored, probed": Int64(try probed.stored())]
    try timings.report()
    exit(0)
  } catch {
    FileHandle.standardError.write(Data("lade-stacks: \(error)\n".utf8))
    exit(1)
  }
}
// The main queue drains on this thread, whose processor time is therefore the queue's.
while true { RunLoop.main.run(until: .distantFuture) }
