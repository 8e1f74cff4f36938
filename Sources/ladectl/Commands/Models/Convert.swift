import ArgumentParser
import Foundation
import Importing
import ManagedObjects

extension Ladectl.Model {
  /// `ladectl model convert`: writes a model in Xcode's source format.
  struct Convert: ReportingCommand {
    static let configuration = Ladectl.verb(
      "convert", "Write a compiled model, or that of a Core Data store, as an .xcdatamodel.",
      """
      Reads a compiled model (.momd, .mom), the model that a Core Data store has in it, or a model as Xcode wrote it, and \
      writes it in the format of Xcode's editor. A store is only read, with its write-ahead log.

      With --row-numbers it writes a model for importing stores of the app: each entity without a parent gets a required \
      attribute for the number of its row, by which relationships find their objects; transformable attributes become \
      Binary, and relationships to several objects become optional.
      """, json: .local("the model's summary, with warnings, and 'model', the path that it was written to"))

    @Argument(help: ArgumentHelp(ModelSource.kinds, valueName: "model"), completion: .file())
    var path: String

    @Option(
      name: .customLong("output"),
      help: ArgumentHelp("Write the model to this .xcdatamodel directory.", valueName: "model"),
      completion: .directory)
    var destination: String

    @Flag(help: "Write a model for importing Core Data stores: with an attribute for row numbers.")
    var rowNumbers = false

    @Flag(help: "Overwrite an existing model.")
    var force = false

    @OptionGroup var output: OutputOptions

    func validate() throws {
      guard destination.hasSuffix(".xcdatamodel") || destination.hasSuffix(".xcdatamodel/") else {
        throw ValidationError("'\(destination)' doesn't end in .xcdatamodel.")
      }
    }

    func run() async throws {
      let model = try ModelSource(path: path).read()
      var summary = model.summary()
      let converted: ManagedObjectModel
      do {
        converted = rowNumbers ? try CoreDataRowNumbers.adding(to: model) : model
      } catch let error as ModelError {
        throw LocalFailure(error)
      }
      do {
        if FileManager.default.fileExists(atPath: destination), !force {
          throw InferenceError.exists(path: destination)
        }
        let writer = ModelFileWriter(converted)
        try writer.write(to: destination, overwrites: force)
        summary.warnings += writer.omissions.map { ModelSummary.Warning(file: path, message: $0) }
      } catch {
        throw LocalFailure.cantWriteModel(reason: "\(error)")
      }
      if output.json {
        Terminal().writeData(try JSONText.of(Result(model: destination, summary: summary)))
        return
      }
      let warnings = summary.warnings.map { "warning: \($0.message.printable)\n" }.joined()
      Terminal().write("\(warnings)The model is in \(destination.printable)\n")
    }

    /// The summary, and where the model was written.
    private struct Result: Encodable {
      let model: String
      let summary: ModelSummary

      private enum CodingKeys: String, CodingKey {
        case model
      }

      func encode(to encoder: any Encoder) throws {
        try summary.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(model, forKey: .model)
      }
    }
  }
}
