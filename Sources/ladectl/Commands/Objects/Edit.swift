import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl edit`: changes one object, makes one or deletes one.
  struct Edit: ControlCommand {
    static let configuration = verb(
      "edit", "Change one object, make a new one, or delete one, validated by the model.",
      """
      The object is named by its number, which 'ladectl fetch ENTITY --columns objectID' shows; 'new' makes one. Values have the \
      form that imports accept. A to-one relationship takes the key of the other object, or its number without a key; \
      relationship.objectID always takes the number. Without values the object is shown with its version: --version has it \
      changed only if it is still as it was then. --check says what the model would refuse, and writes nothing. Runs as a job \
      in the lane 'maintenance', which 'ladectl undo' takes back.

        ladectl edit Order 12
        ladectl edit Order 12 state=closed customer=A-17 --clear note --wait
        ladectl edit Order 12 state=open --version 5f0c21d9a8b1e374 --wait
        ladectl edit Order new number=99 state=open --check
      """, json: .either("an EditableObject, or an EditCheck with --check", "a submission", when: "with changes"))

    @Argument(help: "The entity.", completion: .entities)
    var entity: String

    @Argument(help: "The object's number, or 'new'.")
    var object: String

    @Argument(
      help: ArgumentHelp("New values.", valueName: "attribute=value"), transform: { try NamedOption(parsing: $0) })
    var values: [NamedOption] = []

    @Option(help: ArgumentHelp("An attribute or to-one relationship without a value; repeatable.", valueName: "name"))
    var clear: [String] = []

    @Option(help: ArgumentHelp("Change the object only if it has this version.", valueName: "version"))
    var version: String?

    @Flag(help: "Delete the object, and what the model's delete rules say.")
    var delete = false

    @Flag(help: "Say what would be refused; write nothing.")
    var check = false

    @Flag(help: "Don't ask before an object is deleted.")
    var yes = false

    @Option(help: ArgumentHelp("The store, if several have the entity.", valueName: "name"), completion: .stores)
    var store: String?

    @OptionGroup var submission: SubmissionOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    private var number: Int64? {
      get throws {
        if object == "new" { return nil }
        guard let number = Int64(object), number > 0 else {
          throw ValidationError("'\(object)' is neither an object's number nor 'new'.")
        }
        return number
      }
    }

    /// All values are strings: the attribute's type decides their meaning, and 1.50 for a decimal must stay 1.50.
    private var edit: ObjectEdit {
      get throws {
        let given = try Dictionary(values.map { ($0.name, OptionValue.string($0.value)) }) { _, _ in
          throw ValidationError("A property is given two values.")
        }
        return ObjectEdit(
          store: store, object: try number, version: version, values: given, cleared: clear, isDeletion: delete)
      }
    }

    func validate() throws {
      let edit = try edit
      if delete, !values.isEmpty || !clear.isEmpty {
        throw ValidationError("An object that is deleted gets no values: leave them out, or --delete.")
      }
      if edit.object == nil, delete { throw ValidationError("Which object is to be deleted? Give its number.") }
    }

    func run(_ session: Session) async throws {
      var edit = try edit
      if edit.isEmpty, !check {
        let shown = try await session.client.editable(edit.object, of: entity, in: store)
        return try session.report(shown) { EditSheet.text(of: shown) }
      }
      if check {
        let found = try await session.client.check(edit, of: entity)
        return try session.report(found) { EditSheet.text(of: found) }
      }
      edit.store = try await session.client.storeName(store, having: entity)
      if delete, !yes {
        let found = try await session.client.check(edit, of: entity)
        guard try session.mayGoOn(EditSheet.question(found, entity), yes: false) else { return }
      }
      let work = submission.applied(to: edit.submission(entity: entity))
      try await Submitter(session: session).run([work], wait: submission.wait)
    }
  }
}

/// An object, and what a check says, as text.
enum EditSheet {
  static func text(of object: EditableObject) -> String {
    var text = object.version.map { "version \($0)\n" } ?? ""
    if let refusal = object.refusal { text += "can't be edited: \(refusal.detail.printable)\n" }
    for property in object.properties {
      text += "\(property.name.printable) = \(value(property.value).printable)"
      if let number = property.number { text += " (\((property.entity ?? "").printable) \(number))" }
      if let refusal = property.refusal { text += " (can't be edited: \(refusal.printable))" }
      text += "\n"
    }
    return text
  }

  static func text(of check: EditCheck) -> String {
    if check.isStale { return "It has changed since that version.\n" }
    if !check.faults.isEmpty {
      return check.faults.map { fault in
        (fault.property.map { "\($0.printable): " } ?? "") + fault.reason.printable + "\n"
      }.joined()
    }
    if let most = check.moreThan {
      return "It changes or deletes more than \(Quantity.count(most)) objects along with this one.\n"
    }
    let lines = check.extent.map { extent in
      "\(extent.entity.printable): \(Quantity.count(extent.changed)) changed, \(Quantity.count(extent.deleted)) deleted\n"
    }
    return "It can be done.\n" + lines.joined()
  }

  /// What is asked before a deletion.
  static func question(_ check: EditCheck, _ entity: String) -> String {
    if let most = check.moreThan {
      return "Delete an object of \(entity.printable), and change or delete more than \(Quantity.count(most)) others?"
    }
    let what = check.extent.filter { $0.deleted > 0 }.map {
      "\(Quantity.count($0.deleted)) of \($0.entity.printable)"
    }
    return "Delete \(what.joined(separator: ", "))?"
  }

  static func value(_ value: JSONValue) -> String {
    switch value {
    case .null: "–"
    case .bool(let flag): "\(flag)"
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): text
    case .array, .object: "…"
    }
  }
}
