/// A recipe's rules for how records become objects. They take precedence over the model's user info.
///
/// A cell becomes a value in these steps: the spaces around its text are removed, if it is to be trimmed; it is null, if it
/// is one of the `nulls`; it has the given meaning, if it is one of the `values`; otherwise it is converted by the rule's
/// notation for numbers, dates, booleans and bytes. An empty CSV field is null before any of these steps; one in quotes is an
/// empty text, and so is `""` of JSON. JSON numbers and booleans may be nulls and values too; otherwise they mean what they
/// mean in JSON.
///
/// A default applies where the record says null, and where the record of a new object says nothing. A record that updates
/// an object and doesn't mention an attribute, as JSON records may, leaves it alone. A default takes precedence over the
/// model's, which replaces null where the attribute can't be null. A key attribute with a constant or a default needs no
/// column.
package struct MappingOptions: Codable, Sendable, Hashable {
  /// The attributes that together identify an object, in place of the model's uniqueness constraints; none: as the model
  /// says. The store need not hold them unique: a record whose key several objects have is rejected.
  package var key: [String] = []
  /// The rules, by the name of an attribute or relationship of the entity. For nested objects, the model says how they are
  /// read: see ``NestedMapping``.
  package var properties: [String: PropertyRule] = [:]
  /// Texts that mean null in every column, such as `NA`. An empty field is always null; a text of no characters, which CSV
  /// writes as `""`, is null for strings if it is among these.
  package var nulls: [String] = []
  /// Whether spaces, tabs and line ends around texts are removed in every column. Around numbers and dates they always are.
  package var trims = false
  /// A predicate, in the format language, over the entity's attributes and the keys of its to-one relationships as the
  /// record gives them. Records for which it isn't true are left out and counted as skipped. See ``RecordFilter``.
  package var filter: String?
  /// Columns that are never read and don't count as new.
  package var ignoredColumns: [String] = []
  /// What is done about columns, values and files that the model has nothing for.
  package var schema = SchemaContract()

  package init() {}
}

/// A recipe's rule for one attribute or relationship.
public struct PropertyRule: Codable, Sendable, Hashable {
  /// What to do with a key that no object has at the end of the file.
  public enum Unresolved: String, Codable, Sendable, CaseIterable {
    /// The relationship is left empty. The notes say how many were.
    case leave
    /// The record is rejected.
    case reject
  }

  /// How bytes are written as text.
  public enum BinaryEncoding: String, Codable, Sendable, CaseIterable {
    /// Base64, by RFC 4648.
    case base64
    /// Pairs of hexadecimal digits, also after `0x` or `\x`.
    case hexadecimal = "hex"
  }

  /// How negative numbers are written as text.
  public enum Negatives: String, Codable, Sendable, CaseIterable {
    /// With a minus before the number.
    case minus
    /// Also in parentheses, `(1234.00)`, as in accounting.
    case parentheses
    /// Also with the minus after the number, `1234.00-`.
    case trailingMinus = "trailing_minus"
  }

  /// The column that it comes from.
  public var column: String?
  /// The columns of a relationship whose ``keys`` are several, in their order; nil: those named as the attributes.
  public var columns: [String]?
  /// The value of every object, as if each record had it in a column, in the rule's notation. Updated objects get it too.
  /// `nulls` and `values` don't apply to it. For a to-one relationship, the key.
  public var constant: String?
  /// The value where the record has none, or null; see ``MappingOptions``. In the notation of a constant.
  public var defaultValue: String?
  /// Texts that mean null in this column, instead of ``MappingOptions/nulls``.
  public var nulls: [String]?
  /// Whether spaces around texts are removed in this column; nil: as ``MappingOptions/trims`` says.
  public var trims: Bool?
  /// The notation of dates: `UnixTime`, `UnixTimeMillis`, `UnixTimeMicros`, or a pattern of Unicode's TR 35.
  public var dateFormat: String?
  /// The zone of dates that don't give one, such as `Europe/Berlin`; nil: UTC. A time skipped when clocks go forward is read
  /// with the offset from before, and so becomes later by the difference; a time that occurs twice is the first of the two.
  public var timeZone: String?
  /// The decimal separator, one character; nil: a point.
  public var decimalSeparator: String?
  /// The separator of groups of digits, one character; nil: none. Groups have three digits, or two in all but the
  /// last as in India, in the whole part only.
  public var groupingSeparator: String?
  /// The text before or after each number, such as `€` or `%`, which isn't stored; nil: none.
  public var unit: String?
  /// How negative numbers are written; nil: with a minus before them.
  public var negatives: Negatives?
  /// How binary data is written; nil: base64, but a text that looks hexadecimal is rejected.
  public var binaryEncoding: BinaryEncoding?
  /// Words for true and false. If one of the two isn't given, the usual words. Case makes no difference.
  public var trueWords: [String]?
  /// See ``trueWords``.
  public var falseWords: [String]?
  /// Replacements for texts of the source, in the notation of the source. A text that isn't here stays as it is.
  public var values: [String: String]?
  /// Whether a text that ``values`` doesn't have is rejected.
  public var refusesOtherValues = false
  /// How values are masked before anything else sees them; nil: as the model says, or not at all. See ``ValueMask``.
  public var mask: ValueMask?
  /// The separator of several elements in a text: the keys of a to-many relationship, or the strings of a transformable
  /// attribute of class `[String]`, which takes JSON arrays of strings as well. `nulls` then apply to the whole text and to
  /// elements, which are left out like empty ones; `values` apply to elements.
  public var separator: String?
  /// For a relationship: the destination's attribute that holds the key.
  public var key: String?
  /// For a to-one relationship whose objects are found by several attributes together, in place of ``key``: their names. If
  /// one of the columns is null, the relationship is empty.
  public var keys: [String]?
  /// For a relationship: whether an object with only the key is created if neither store nor file has one. For a
  /// relationship to the entity itself, this happens at the end of the file, since a later record may be the object.
  public var creates = false
  /// For a relationship; nil: reject if the relationship needs an object, leave it empty otherwise. Records that need each
  /// other in a cycle are rejected.
  public var unresolved: Unresolved?

  /// A rule; what it doesn't say is as the model says.
  public init(column: String? = nil, constant: String? = nil, dateFormat: String? = nil) {
    self.column = column
    self.constant = constant
    self.dateFormat = dateFormat
  }
}

// Missing keys have their defaults, so that options of jobs that an older version submitted can be read.

extension MappingOptions {
  private enum CodingKeys: String, CodingKey {
    case key, properties, nulls, trims, filter, ignoredColumns, schema
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init()
    key = try values.decodeIfPresent([String].self, forKey: .key) ?? key
    properties = try values.decodeIfPresent([String: PropertyRule].self, forKey: .properties) ?? properties
    nulls = try values.decodeIfPresent([String].self, forKey: .nulls) ?? nulls
    trims = try values.decodeIfPresent(Bool.self, forKey: .trims) ?? trims
    filter = try values.decodeIfPresent(String.self, forKey: .filter)
    ignoredColumns = try values.decodeIfPresent([String].self, forKey: .ignoredColumns) ?? ignoredColumns
    schema = try values.decodeIfPresent(SchemaContract.self, forKey: .schema) ?? schema
  }
}

extension PropertyRule {
  private enum CodingKeys: String, CodingKey {
    case column, constant, defaultValue, nulls, trims, dateFormat, timeZone, decimalSeparator, groupingSeparator
    case trueWords, falseWords, values, refusesOtherValues, separator, key, creates, unresolved, binaryEncoding
    case unit, negatives
    case columns, keys, mask
  }

  /// Reads a rule; every key may be left out.
  public init(from decoder: any Decoder) throws {
    let rule = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String? { try rule.decodeIfPresent(String.self, forKey: key) }
    func texts(_ key: CodingKeys) throws -> [String]? { try rule.decodeIfPresent([String].self, forKey: key) }
    self.init()
    (column, constant, defaultValue) = try (text(.column), text(.constant), text(.defaultValue))
    (dateFormat, timeZone) = try (text(.dateFormat), text(.timeZone))
    (decimalSeparator, groupingSeparator) = try (text(.decimalSeparator), text(.groupingSeparator))
    (nulls, trueWords, falseWords) = try (texts(.nulls), texts(.trueWords), texts(.falseWords))
    trims = try rule.decodeIfPresent(Bool.self, forKey: .trims)
    values = try rule.decodeIfPresent([String: String].self, forKey: .values)
    refusesOtherValues = try rule.decodeIfPresent(Bool.self, forKey: .refusesOtherValues) ?? refusesOtherValues
    mask = try rule.decodeIfPresent(ValueMask.self, forKey: .mask)
    (separator, key) = try (text(.separator), text(.key))
    (columns, keys) = try (texts(.columns), texts(.keys))
    binaryEncoding = try rule.decodeIfPresent(BinaryEncoding.self, forKey: .binaryEncoding)
    unit = try text(.unit)
    negatives = try rule.decodeIfPresent(Negatives.self, forKey: .negatives)
    creates = try rule.decodeIfPresent(Bool.self, forKey: .creates) ?? creates
    unresolved = try rule.decodeIfPresent(Unresolved.self, forKey: .unresolved)
  }
}

/// The keys of a rule for one attribute or relationship, under `properties`, in recipes and options.
package enum PropertyRuleKey: String, CaseIterable, Sendable {
  case column, constant
  case defaultValue = "default"
  case nulls, trim
  case dateFormat = "date_format"
  case timeZone = "time_zone"
  case decimalSeparator = "decimal_separator"
  case groupingSeparator = "grouping_separator"
  case unit, negatives
  case binaryEncoding = "binary_encoding"
  case trueWords = "true_words"
  case falseWords = "false_words"
  case values
  case otherValues = "other_values"
  case mask
  case separator, key, create, unresolved
}
