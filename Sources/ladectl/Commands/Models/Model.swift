import ArgumentParser
import ControlAPI
import Importing
import ManagedObjects

extension Ladectl {
  /// `ladectl model`: commands for models. Only `diff` needs a daemon.
  struct Model: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show object models, convert them, and infer them from files.",
      subcommands: [Show.self, Convert.self, Infer.self, Diff.self])

    /// `ladectl model show`: prints a model.
    struct Show: ReportingCommand {
      static let configuration = verb(
        "show", "Show a model's entities, attributes, relationships and warnings, or a mapping model.",
        """
        Of a mapping model, an .xcmappingmodel or a compiled .cdm, it shows what each entity and property comes from. An \
        .xcmappingmodel names its two models, which are looked for beside it and in the folders around it; those of a .cdm \
        are given by --from and --to.
        """, json: .local("the model's summary"))

      @Argument(help: ArgumentHelp(ModelSource.kinds + " Or a mapping model."), completion: .file())
      var path: String

      @Option(help: ArgumentHelp("The model that a mapping model leads from.", valueName: "model"), completion: .file())
      var from: String?

      @Option(help: ArgumentHelp("The model that a mapping model leads to.", valueName: "model"), completion: .file())
      var to: String?

      @OptionGroup var output: OutputOptions

      func validate() throws {
        guard ModelSource(path: path).isMapping || (from == nil && to == nil) else {
          throw ValidationError("--from and --to are the models of a mapping model, an .xcmappingmodel or .cdm.")
        }
      }

      func run() async throws {
        let source = ModelSource(path: path)
        if source.isMapping {
          let summary = try source.readMapping(from: from, to: to)
          return Terminal().writeData(output.json ? try JSONText.of(summary) : summary.text)
        }
        let model = try source.read()
        var summary = model.summary()
        summary.warnings += ModelAdvice.on(model).map { ModelSummary.Warning(file: path, message: $0) }
        let text = summary.text
        Terminal().writeData(output.json ? try JSONText.of(summary) : text.hasSuffix("\n") ? text : text + "\n")
      }
    }
  }
}
