import ArgumentParser
import ControlAPI
import Importing
import ManagedObjects

extension Ladectl {
  /// `ladectl model`: commands for models. Needs no daemon.
  struct Model: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show object models, convert them, and infer them from files.",
      subcommands: [Show.self, Convert.self, Infer.self])

    /// `ladectl model show`: prints a model.
    struct Show: ReportingCommand {
      static let configuration = verb(
        "show", "Show a model's entities, attributes, relationships and warnings.", json: .local("the model's summary"))

      @Argument(help: ArgumentHelp(ModelSource.kinds), completion: .file())
      var path: String

      @OptionGroup var output: OutputOptions

      func run() async throws {
        let model = try ModelSource(path: path).read()
        var summary = model.summary()
        summary.warnings += ModelAdvice.on(model).map { ModelSummary.Warning(file: path, message: $0) }
        let text = summary.text
        Terminal().writeData(output.json ? try JSONText.of(summary) : text.hasSuffix("\n") ? text : text + "\n")
      }
    }
  }
}
