import ArgumentParser

@main
struct Bench: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures Lade against what else does the same work, in the same run.",
    subcommands: [
      ImportBenchmark.self, ObjectsBenchmark.self, StacksBenchmark.self, ControlBenchmark.self, QueueBenchmark.self,
    ])
}
