// lade-stacks STACK COUNT SAVE-EVERY FILE
//
// Imports COUNT objects in the background on one of the three stacks, saving every SAVE-EVERY objects (0: once, at the
// end) up to the disk, and prints what the main queue had of it: {"values": {"total": s, "busy": s, "stall": s}, …}.

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

do {
  let container = try StackImport.container(stack, file: arguments[4])
  let run = StackImport(container: container, count: count, every: every)
  Thread.detachNewThread {
    do {
      try run.measure().report()
      exit(0)
    } catch {
      FileHandle.standardError.write(Data("lade-stacks: \(error)\n".utf8))
      exit(1)
    }
  }
} catch {
  FileHandle.standardError.write(Data("lade-stacks: \(error)\n".utf8))
  exit(1)
}
// The main queue drains on this thread, whose processor time is therefore the queue's.
while true { RunLoop.main.run(until: .distantFuture) }
