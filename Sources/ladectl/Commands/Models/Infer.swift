import ArgumentParser
import Foundation
import Importing
import ManagedObjects

extension Ladectl.Model {
  /// `ladectl model infer`: infers a model from files. Needs no daemon.
  struct Infer: ReportingCommand {
    static let configuration = Ladectl.verb(
      "infer", "Infer a model from files: types, keys, and references between them.",
      """
      Reads \(FileFormats.standard.titles), compressed or not, archives with all their files, and folders. Each file becomes an entity. It reads the files twice, and every type \
      and key holds for all their records; future files may differ, so review the model before you use it.

      Words for no value, such as NA, are given by --option nulls=NA, as in recipes. The columns of a CSV file without a header \
      line are numbered, with --option header=false. All tables of an SQLite database are read.

      With --output it writes the model in Xcode's format; otherwise it only prints it. With --against it prints what another \
      model lacks for the files.

      Options of reading, which --option takes:

      \(FileFormats.standard.optionsHelp)
      """, json: .local("what was inferred of each entity, and 'model', the path that it was written to"))

    @Argument(help: ArgumentHelp("Files, archives or folders.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
      name: .customLong("output"),
      help: ArgumentHelp("Write the model to this .xcdatamodel directory.", valueName: "model"),
      completion: .directory)
    var modelPath: String?

    @Option(help: ArgumentHelp("Write the model to NAME.xcdatamodel in this directory.", valueName: "name"))
    var name: String?

    @Option(
      help: ArgumentHelp(
        "Compare the files with this .xcdatamodeld or .xcdatamodel directory, and print the changes by which the model would "
          + "take all of them.", valueName: "model"), completion: .directory)
    var against: String?

    @Flag(help: "Overwrite an existing model.")
    var force = false

    @Option(
      help: ArgumentHelp(
        "A reading option, named as in recipes: 'delimiter=;', skip_lines=2. Repeat it for a "
          + "list of values.", valueName: "name=value"),
      transform: { try NamedOption(parsing: $0) })
    var option: [NamedOption] = []

    @OptionGroup var output: OutputOptions

    /// The output path; nil to only print the model.
    private var destination: String? { modelPath ?? name.map { $0 + ".xcdatamodel" } }

    func validate() throws {
      guard modelPath == nil || name == nil else {
        throw ValidationError("Say where to write the model by --output or by --name, not by both.")
      }
      guard against == nil || (modelPath == nil && name == nil) else {
        throw ValidationError("--against prints changes, and writes no model: leave --output and --name out.")
      }
      guard !force || modelPath != nil || name != nil else {
        throw ValidationError("--force goes with --output or --name: nothing is written without one of them.")
      }
      if let name, name.isEmpty || name.contains("/") {
        throw ValidationError("'\(name)' isn't the name of a model; a path goes with --output.")
      }
      if let modelPath, !modelPath.hasSuffix(".xcdatamodel"), !modelPath.hasSuffix(".xcdatamodel/") {
        throw ValidationError("'\(modelPath)' doesn't end in .xcdatamodel.")
      }
    }

    func run() async throws {
      let known: ManagedObjectModel?
      do {
        known = try against.map { try ManagedObjectModel(contentsOf: URL(fileURLWithPath: $0)) }
      } catch let error as ModelError {
        throw LocalFailure(error)
      }
      let model: InferredModel
      do {
        let values = Dictionary(grouping: option, by: \.name).mapValues { $0.map(\.value) }
        let writer = destination.map { (path: $0, isThere: FileManager.default.fileExists(atPath: $0)) }
        // Checked before reading the files, which may take a while.
        if let writer, writer.isThere, !force { throw InferenceError.exists(path: writer.path) }
        model = try ModelInference(named: values).run(files)
        if let writer { try ModelFileWriter(model.definitions).write(to: writer.path, overwrites: force) }
      } catch {
        throw LocalFailure.cantInferModel(reason: String(describing: error))
      }
      if let known {
        let comparison = ModelComparison(of: known, with: model)
        Terminal().writeData(output.json ? try JSONText.of(comparison) : comparison.text)
      } else if output.json {
        Terminal().writeData(try JSONText.of(Result(model: destination, inferred: model)))
      } else {
        Terminal().write(model.text + (destination.map { "\nThe model is in \($0.printable)\n" } ?? ""))
      }
    }

    /// The result, and where it was written.
    private struct Result: Encodable {
      let model: String?
      let inferred: InferredModel

      private enum CodingKeys: String, CodingKey {
        case model
      }

      func encode(to encoder: any Encoder) throws {
        try inferred.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(model, forKey: .model)
      }
    }
  }
}
