// modelclasses MODEL OUTPUT [MODULE]
//
// Writes the classes of a model's objects as Swift source. MODEL is an .xcdatamodeld or .xcdatamodel, MODULE the module that
// it is compiled in. OUTPUT is the file to write, or a folder: then each entity gets a file there. The plugin
// ManagedObjectClasses runs it; by hand it shows what comes of a model. Notes, warnings and errors go to the standard error,
// in the notation of compilers. The status is 1 after an error.

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
  let generated = try GeneratedSource(of: model, module: arguments.count == 3 ? CommandLine.arguments[3] : nil)
  for message in generated.messages { say(message) }
  let output = URL(fileURLWithPath: CommandLine.arguments[2])
  if try FileManager.default.fileExists(atPath: output.path)
    && output.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
  {
    for file in generated.files {
      try Data(file.source.utf8).write(to: output.appendingPathComponent(file.name), options: .atomic)
    }
  } else {
    try Data(generated.whole.utf8).write(to: output, options: .atomic)
  }
} catch {
  say("\(model.path): error: \(error)")
  exit(1)
}
