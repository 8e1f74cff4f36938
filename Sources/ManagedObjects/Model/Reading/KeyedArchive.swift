import Foundation

/// The objects of a keyed archive: what Core Data's compiled models, mapping models and model caches consist of.
///
/// No object of the archive becomes an object of a class: a class is a name, and a value a field of it.
///
/// Source: files of `NSKeyedArchiver`; its format is a property list with `$top`, `$objects` and `$class`.
final class KeyedArchive {
  /// One object, with its fields.
  struct Coded {
    let className: String
    fileprivate let fields: [String: Int]

    /// Whether it has a field.
    func has(_ name: String) -> Bool { fields[name] != nil }

    /// The names of its fields.
    var fieldNames: [String] { fields.keys.sorted() }
  }

  /// A value of a field.
  enum Item {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case date(Double)
    case data(Data)
    case string(String)
    case coded(Coded)
  }

  /// The bytes that a name of a class or field may have: messages repeat them.
  private static let nameLimit = 1000

  private let list: BinaryPropertyList
  /// The numbers of the archive's objects in the property list.
  private let objects: [Int]
  private let root: Int
  private var classNames: [Int: String] = [:]
  /// The objects that were read, by their numbers in the property list: in a hostile archive many objects may be one of its
  /// dictionaries.
  private var coded: [Int: Coded] = [:]

  init(_ data: Data) throws(ArchiveDamage) {
    list = try BinaryPropertyList(data)
    let top = try Self.dictionary(list.top, in: list)
    guard let archiver = top["$archiver"], case .string("NSKeyedArchiver") = try list.object(archiver),
      let place = top["$objects"], case .array(let objects) = try list.object(place), let topPlace = top["$top"]
    else { throw ArchiveDamage("it isn't a keyed archive") }
    self.objects = objects
    guard let place = try Self.dictionary(topPlace, in: list)["root"], case .uid(let root) = try list.object(place)
    else { throw ArchiveDamage("the archive has no root") }
    self.root = root
  }

  /// The root object.
  func rootObject() throws(ArchiveDamage) -> Coded {
    guard case .coded(let object) = try item(root) else { throw ArchiveDamage("the archive has no root") }
    return object
  }

  /// The root object, of a class.
  func root(_ className: String) throws(ArchiveDamage) -> Coded {
    let object = try rootObject()
    guard object.className == className else {
      throw ArchiveDamage(
        object.className == "NSMappingModel"
          ? "it is a mapping model, which says how stores are migrated from one model to another"
          : "the archive is of \(object.className), not of \(className)")
    }
    return object
  }

  /// A field's value; null if the object doesn't have it.
  func item(_ name: String, of object: Coded) throws(ArchiveDamage) -> Item {
    guard let place = object.fields[name] else { return .null }
    return try item(list.object(place))
  }

  /// A field's text, nil if there is none.
  func text(_ name: String, of object: Coded) throws(ArchiveDamage) -> String? {
    try text(item(name, of: object))
  }

  /// The text that a value is, nil if it isn't one.
  func text(_ item: Item) throws(ArchiveDamage) -> String? {
    switch item {
    case .string(let text): return text
    case .coded(let object) where object.has("NS.string"):
      guard case .string(let text) = try self.item("NS.string", of: object) else { return nil }
      return text
    case .coded(let object) where object.has("NS.bytes"):
      guard case .data(let bytes) = try self.item("NS.bytes", of: object) else { return nil }
      return String(decoding: bytes, as: UTF8.self)
    default: return nil
    }
  }

  /// A field's flag, false if there is none.
  func flag(_ name: String, of object: Coded) throws(ArchiveDamage) -> Bool {
    switch try item(name, of: object) {
    case .bool(let flag): flag
    case .integer(let number): number != 0
    default: false
    }
  }

  /// A field's whole number, nil if there is none.
  func integer(_ name: String, of object: Coded) throws(ArchiveDamage) -> Int64? {
    switch try item(name, of: object) {
    case .integer(let number): number
    case .bool(let flag): flag ? 1 : 0
    case .real(let number): Int64(exactly: number)
    default: nil
    }
  }

  /// The object in a field, nil if there is none.
  func object(_ name: String, of object: Coded) throws(ArchiveDamage) -> Coded? {
    guard case .coded(let found) = try item(name, of: object) else { return nil }
    return found
  }

  /// The elements of a field that holds an array or a set; none if there is no such field.
  func elements(_ name: String, of object: Coded) throws(ArchiveDamage) -> [Item] {
    guard let list = try self.object(name, of: object) else { return [] }
    return try elements(of: list)
  }

  /// The elements of an array or a set.
  func elements(of object: Coded) throws(ArchiveDamage) -> [Item] {
    var items: [Item] = []
    for number in try references("NS.objects", of: object) { items.append(try item(number)) }
    return items
  }

  /// The entries of a field that holds a dictionary, in the order of their keys; none if there is no such field. Keys that
  /// aren't texts are left out.
  func entries(_ name: String, of object: Coded) throws(ArchiveDamage) -> [(key: String, value: Item)] {
    guard let dictionary = try self.object(name, of: object) else { return [] }
    return try entries(of: dictionary)
  }

  /// The entries of a dictionary, in the order of their keys. Keys that aren't texts are left out.
  func entries(of dictionary: Coded) throws(ArchiveDamage) -> [(key: String, value: Item)] {
    var keys = try references("NS.keys", of: dictionary)
    var values = try references("NS.objects", of: dictionary)
    var emptySlot: Int?
    // Core Data's own dictionary, in which an empty slot holds a token.
    if let mapping = try self.object("searchMapping", of: dictionary) {
      keys =
        try self.object("keys", of: mapping).map { list throws(ArchiveDamage) in try references("NS.objects", of: list)
        } ?? []
      values =
        try self.object("values", of: dictionary).map { list throws(ArchiveDamage) in
          try references("NS.objects", of: list)
        } ?? []
      if let place = dictionary.fields["emptyToken"], case .uid(let token) = try list.object(place) {
        emptySlot = token
      }
    }
    guard keys.count == values.count else { throw ArchiveDamage("a dictionary has more keys than values, or fewer") }
    var entries: [(key: String, value: Item)] = []
    for (key, value) in zip(keys, values) where value != emptySlot {
      guard let key = try text(item(key)) else { continue }
      entries.append((key, try item(value)))
    }
    return entries.sorted { $0.key < $1.key }
  }

  private func references(_ name: String, of object: Coded) throws(ArchiveDamage) -> [Int] {
    guard let place = object.fields[name], case .array(let elements) = try list.object(place) else { return [] }
    var references: [Int] = []
    for element in elements {
      guard case .uid(let number) = try list.object(element) else {
        throw ArchiveDamage("a list of the archive has something else than references in it")
      }
      references.append(number)
    }
    return references
  }

  /// The object of the archive with a number.
  private func item(_ number: Int) throws(ArchiveDamage) -> Item {
    guard objects.indices.contains(number) else { throw ArchiveDamage("the archive has no object \(number)") }
    if number == 0 { return .null }
    let place = objects[number]
    if let known = coded[place] { return .coded(known) }
    let value = try list.object(place)
    guard case .dictionary(let keys, let values) = value else { return try item(value, follows: false) }
    var fields = try Self.fields(keys, values, in: list)
    guard let field = fields.removeValue(forKey: "$class"), case .uid(let kind) = try list.object(field) else {
      throw ArchiveDamage("object \(number) of the archive has no class")
    }
    let object = Coded(className: try className(kind), fields: fields)
    coded[place] = object
    return .coded(object)
  }

  /// A value of the property list; `follows` tells whether it may refer to an object of the archive.
  private func item(_ value: BinaryPropertyList.Object, follows: Bool = true) throws(ArchiveDamage) -> Item {
    switch value {
    case .null: return .null
    case .bool(let flag): return .bool(flag)
    case .integer(let number): return .integer(number)
    case .real(let number): return .real(number)
    case .date(let seconds): return .date(seconds)
    case .data(let data): return .data(data)
    case .string(let text): return .string(text)
    case .uid(let number) where follows: return try item(number)
    case .uid, .array, .dictionary: throw ArchiveDamage("a field of the archive isn't a value")
    }
  }

  private func className(_ number: Int) throws(ArchiveDamage) -> String {
    if let known = classNames[number] { return known }
    guard objects.indices.contains(number),
      let place = try Self.dictionary(objects[number], in: list)["$classname"],
      case .string(let name) = try list.object(place), name.utf8.count <= Self.nameLimit
    else { throw ArchiveDamage("the archive has an object of a class without a name, or with one that is too long") }
    classNames[number] = name
    return name
  }

  private static func dictionary(_ number: Int, in list: BinaryPropertyList) throws(ArchiveDamage) -> [String: Int] {
    guard case .dictionary(let keys, let values) = try list.object(number) else {
      throw ArchiveDamage("it isn't a keyed archive")
    }
    return try fields(keys, values, in: list)
  }

  private static func fields(
    _ keys: [Int], _ values: [Int], in list: BinaryPropertyList
  ) throws(ArchiveDamage) -> [String: Int] {
    var entries: [String: Int] = [:]
    for (key, value) in zip(keys, values) {
      guard case .string(let name) = try list.object(key), name.utf8.count <= nameLimit else {
        throw ArchiveDamage("a field of the archive has no name, or one that is too long")
      }
      entries[name] = value
    }
    return entries
  }
}

extension KeyedArchive {
  /// The attribute value that an item is; nil if it is none, or none of the type. A missing item is null.
  func value(_ item: Item, _ type: AttributeType) throws(ArchiveDamage) -> Value? {
    if case .null = item { return .null }
    switch type {
    case .integer16, .integer32, .integer64:
      guard let number = try integer(item), type.integerRange?.contains(number) ?? false else { return nil }
      return .int(number)
    case .double, .float:
      guard let number = try real(item) else { return nil }
      let stored = type == .float ? Double(Float(number)) : number
      return stored.isFinite ? .double(stored) : nil
    case .decimal: return try decimal(item).map(Value.decimal)
    case .boolean: return try integer(item).map { .bool($0 != 0) }
    case .string: return try text(item).map(Value.string)
    case .date: return try seconds(item).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .binaryData: return try data(item).map(Value.data)
    case .uuid:
      guard let bytes = try data(item), bytes.count == 16 else { return nil }
      return .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
    case .uri: return try url(item).map(Value.uri)
    case .transformable, .objectID, .composite, .undefined: return nil
    }
  }

  /// The whole number that an item is.
  func integer(_ item: Item) throws(ArchiveDamage) -> Int64? {
    switch item {
    case .integer(let number): return number
    case .bool(let flag): return flag ? 1 : 0
    case .real(let number): return Int64(exactly: number)
    case .coded: return try decimal(item).flatMap { Int64(exactly: NSDecimalNumber(decimal: $0).doubleValue) }
    default: return nil
    }
  }

  private func real(_ item: Item) throws(ArchiveDamage) -> Double? {
    switch item {
    case .real(let number): return number.isFinite ? number : nil
    case .integer(let number): return Double(number)
    case .bool(let flag): return flag ? 1 : 0
    case .coded: return try decimal(item).map { NSDecimalNumber(decimal: $0).doubleValue }
    default: return nil
    }
  }

  /// A number, or an `NSDecimalNumber`: up to eight units of 16 bits, a sign and an exponent.
  private func decimal(_ item: Item) throws(ArchiveDamage) -> Decimal? {
    switch item {
    case .integer(let number): return Decimal(number)
    case .bool(let flag): return flag ? 1 : 0
    case .real(let number): return number.isFinite ? Decimal(number) : nil
    case .coded(let object):
      guard case .data(let bytes) = try self.item("NS.mantissa", of: object),
        let exponent = try integer("NS.exponent", of: object), (-128...127).contains(exponent),
        let length = try integer("NS.length", of: object), (0...8).contains(length), bytes.count >= 2 * Int(length)
      else { return nil }
      let isBig = try integer("NS.mantissa.bo", of: object) == 2
      let units = Array(bytes)
      var number = Decimal(0)
      for unit in (0..<Int(length)).reversed() {
        let (a, b) = (Int(units[2 * unit]), Int(units[2 * unit + 1]))
        number = number * 65536 + Decimal(isBig ? a << 8 | b : b << 8 | a)
      }
      let isNegative = try flag("NS.negative", of: object)
      let result = Decimal(sign: isNegative ? .minus : .plus, exponent: Int(exponent), significand: number)
      return result.isFinite ? result : nil
    default: return nil
    }
  }

  private func seconds(_ item: Item) throws(ArchiveDamage) -> Double? {
    switch item {
    case .date(let seconds), .real(let seconds): return seconds.isFinite ? seconds : nil
    case .integer(let seconds): return Double(seconds)
    case .coded(let object): return try real(self.item("NS.time", of: object))
    default: return nil
    }
  }

  private func data(_ item: Item) throws(ArchiveDamage) -> Data? {
    switch item {
    case .data(let data): return data
    case .coded(let object):
      for name in ["NS.data", "NS.uuidbytes"] {
        if case .data(let data) = try self.item(name, of: object) { return data }
      }
      return nil
    default: return nil
    }
  }

  private func url(_ item: Item) throws(ArchiveDamage) -> URL? {
    guard case .coded(let object) = item, let relative = try text("NS.relative", of: object) else {
      return try text(item).flatMap { URL(string: $0) }
    }
    return URL(string: relative)
  }
}
