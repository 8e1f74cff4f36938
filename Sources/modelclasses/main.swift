// modelclasses MODEL OUTPUT [MODULE]
//
// Writes the classes of a model's objects as Swift source. MODEL is an .xcdatamodeld or .xcdatamodel, OUTPUT the file to
// write, MODULE the module that it is compiled in. The plugin ManagedObjectClasses runs it; by hand it shows what comes
// of a model. Notes, warnings and errors go to the standard error, in the notation of compilers. The status is 1 after an error.

import ClassGeneration
import Foundation

func say(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

let arguments = CommandLine.arguments.dropFirst()
guard (2...3).contains(arguments.count) else {
  say("usage: modelclasses MODEL OUTPUT [MODULE]")
  exit(64)
}
let model = URL(fileURLWithPath: CommandLine.arguments[1])
do {
  let output = try GeneratedFile(of: model, module: arguments.count == 3 ? CommandLine.arguments[3] : nil)
  for message in output.messages { say(message) }
  try Data(output.source.utf8).write(to: URL(fileURLWithPath: CommandLine.arguments[2]), options: .atomic)
} catch {
  say("\(model.path): error: \(error)")
  exit(1)
}
