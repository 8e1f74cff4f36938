import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl update`: sets values of objects.
  struct Update: ControlCommand {
    static let configuration = verb(
      "update", "Set values of matching objects of an entity in batches, validated by the model.",
      """
      Values have the form that imports accept: dates in ISO 8601, binary data in Base64. Runs as a job in the lane \
      'maintenance'. On a terminal it asks first and shows the number of objects.

        ladectl update Order --where "state == 'open'" --wait \\
          --set state=closed --set 'note=by hand'
      """, json: .submission)

    @Option(
      help: ArgumentHelp("An attribute and its new value; repeatable.", valueName: "attribute=value"),
      transform: { try NamedOption(parsing: $0) })
    var set: [NamedOption]

    @OptionGroup var objects: WhichObjects
    @OptionGroup var other: OtherOptions
    @OptionGroup var submission: SubmissionOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    /// All are strings: the attribute's type decides their meaning, and 1.50 for a decimal must stay 1.50.
    private var options: [String: OptionValue] {
      get throws {
        let values = try Dictionary(set.map { ($0.name, OptionValue.string($0.value)) }) { _, _ in
          throw ValidationError("An attribute is given two values.")
        }
        return try other.merged(with: objects.options.merging(["set": OptionValue.map(values)]) { $1 })
      }
    }

    func validate() throws { _ = try options }

    func run(_ session: Session) async throws {
      try await objects.submit("update", try options, submission, verb: "Change", session)
    }
  }
}
