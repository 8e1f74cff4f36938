import Importing

extension Job {
  static let usage = """
    usage: lade-import --database PATH | --postgres CONNECTION --schema NAME
                       --source PATH
                       [--model plain|without-index|clubs|captains|readings|parents|feed] [--entity ENTITY]
                       [--mode insert|upsert|update|replace|synchronise] [--batch-size RECORDS]
                       [--lineage true]

    """

  /// Reads the command's arguments, of which each has a value; nil if they make no sense.
  init?(arguments: [String]) {
    guard arguments.count.isMultiple(of: 2) else { return nil }
    self.init(source: "")
    for place in stride(from: 0, to: arguments.count, by: 2) {
      let value = arguments[place + 1]
      switch arguments[place] {
      case "--database": database = value
      case "--postgres": connection = value
      case "--schema": schema = value
      case "--source": source = value
      case "--entity": entity = value
      case "--model":
        guard let named = PeopleModel(rawValue: value) else { return nil }
        model = named
      case "--lineage":
        guard let flag = Bool(value) else { return nil }
        lineage = flag
      case "--batch-size":
        guard let records = Int(value), records > 0 else { return nil }
        batchSize = records
      case "--mode":
        guard let named = ImportMode(name: value) else { return nil }
        mode = named
      default: return nil
      }
    }
    guard database.isEmpty != connection.isEmpty, !source.isEmpty else { return nil }
  }
}

extension ImportMode {
  fileprivate init?(name: String) {
    switch name {
    case "insert": self = .insert
    case "upsert": self = .upsert
    case "update": self = .update
    case "replace": self = .replace
    case "synchronise": self = .synchronise
    default: return nil
    }
  }
}
