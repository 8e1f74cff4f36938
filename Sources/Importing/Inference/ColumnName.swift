/// The key that a column's name suggests: `home_team_id` is an `id` of a home team.
struct ColumnName {
  /// In lower case.
  let words: [String]
  /// The last word, when keys are usually called so.
  let suffix: String?
  /// The words before it.
  let stem: [String]

  init(_ name: String) {
    words = EntityNames.words(of: name).map { $0.lowercased() }
    let last = words.last.flatMap { Self.suffixes.contains($0) ? $0 : nil }
    suffix = last
    stem = last == nil ? words : Array(words.dropLast())
  }

  var joined: String { words.joined() }

  /// Whether the name alone doesn't tell whose key it is.
  var isGeneric: Bool { stem.isEmpty || words == ["name"] || words == ["title"] }

  /// Whether it may be part of a key of several columns.
  var isKeyLike: Bool { suffix != nil || words.contains(where: Self.parts.contains) }

  /// Whether values that happen to be unique may be a key.
  var mayIdentify: Bool { !words.contains(where: Self.measures.contains) }

  static let suffixes: Set<String> = ["code", "fk", "guid", "id", "key", "no", "nr", "number", "ref", "uuid"]
  private static let parts: Set<String> = [
    "date", "day", "hour", "index", "lang", "language", "line", "locale", "minute", "month", "part", "pos", "position",
    "quarter",
    "row", "seq", "sequence", "type", "version", "week", "year",
  ]
  private static let measures: Set<String> = [
    "amount", "arrival", "balance", "comment", "cost", "count", "created", "date", "delay", "departure", "description",
    "distance", "duration", "height",
    "lat", "latitude", "length", "lon", "long", "longitude", "lng", "modified", "note", "notes", "price", "quantity",
    "size", "text", "time", "timestamp", "total", "updated", "url", "value", "weight", "width",
  ]
  private static let parents: Set<String> = [
    "boss", "manager", "master", "parent", "predecessor", "superior", "supervisor", "superseded",
  ]

  /// How well it fits as the key of an entity's own objects: 0 is the best; nil if its name doesn't suggest one.
  func keyRank(entity: [String], base: [String]) -> Int? {
    if words == ["id"] { return 0 }
    if suffix == "id", stem == entity || stem == base { return 0 }
    if joined == entity.joined() + "id" || joined == base.joined() + "id" { return 0 }
    guard let suffix else { return nil }
    if suffix == "fk" || suffix == "ref" { return nil }
    return stem.isEmpty || stem == entity || stem == base ? 1 : 2
  }

  /// How clearly it names the key of another file: from 0, not at all, to 4, the same name.
  ///
  /// - Parameters:
  ///   - key: the key column there.
  ///   - entity: the words of the entity, and of the file's name.
  ///   - columns: the other columns there: one with this name is meant rather than the key.
  func refers(to key: ColumnName, entity: [String], base: [String], columns: Set<String>, isSame: Bool) -> Int {
    if !key.isGeneric, words == key.words { return 4 }
    if isSame, stem.contains(where: Self.parents.contains) { return 2 }
    if columns.contains(joined) { return 0 }
    if !key.isGeneric, words.count > key.words.count, words.suffix(key.words.count) == key.words[...] { return 3 }
    // `customer_no` doesn't refer to customers whose key is an id.
    if let suffix, let other = key.suffix, suffix != other, !["id", "ref", "fk"].contains(suffix) { return 0 }
    for name in [entity, base] where !name.isEmpty {
      if stem == name || joined == name.joined() + "id" { return 3 }
      if stem.count > name.count, stem.suffix(name.count) == name[...] { return 2 }
    }
    return 0
  }
}
