import ArgumentParser

/// How long a verb waits.
struct TimeoutOption: ParsableArguments {
  @Option(name: .customLong("timeout"), help: ArgumentHelp("Give up after this many seconds.", valueName: "seconds"))
  var seconds: Double?

  func validate() throws {
    guard seconds.map({ $0 >= 0 && $0.isFinite }) ?? true else {
      throw ValidationError("--timeout is a number of seconds.")
    }
  }
}
