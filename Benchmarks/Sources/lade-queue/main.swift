// laded with jobs that do nothing: what bench-queue measures.
//
// usage: lade-queue CONFIGURATION     BENCH_MARKS, if set, is the datagram socket that hears of each job that begins
//        lade-queue --seed FILE JOBS  puts jobs into a queue's store, of which no daemon runs

import Foundation
import Jobs
import LadeDaemon

var operations = OperationCatalogue()
operations.add("noop", NoOperation.self)
operations.add("stay", StayOperation.self)
let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "--seed", arguments.count == 3, let jobs = Int(CommandLine.arguments[3]) {
  try await Seed(file: CommandLine.arguments[2], operations: operations).submit(jobs)
} else if arguments.count == 1 {
  try await Daemon(configurationPath: CommandLine.arguments[1], operations: operations).run()
} else {
  FileHandle.standardError.write(Data("usage: lade-queue CONFIGURATION | lade-queue --seed FILE JOBS\n".utf8))
  exit(2)
}
