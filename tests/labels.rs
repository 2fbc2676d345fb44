//! Tables of labels, as other programs write them.

use orthant::CellType;
use orthant_formats::input::LabelTable;
use proptest::prelude::*;

fn known(text: &str, kind: CellType) -> Vec<(u64, String, Option<[u8; 4]>)> {
    let table = LabelTable::of(text, kind).unwrap();
    table.labels.into_iter().map(|label| (label.word, label.name, label.colour)).collect()
}

/// Each program's form says the same.
#[test]
fn tables_of_every_program() {
    let coloured = vec![
        (0, "Clear Label".to_owned(), Some([0, 0, 0, 0])),
        (17, "Left hippocampus".to_owned(), Some([220, 216, 20, 255])),
    ];
    let snap = "################\n# ITK-SnAP Label Description File\n    0     0    0    0        0  0  0    \"Clear Label\"\n   17   220  216   20        1  1  1    \"Left hippocampus\"\n";
    assert_eq!(known(snap, CellType::U16), coloured);
    let free =
        "#No. Label Name:   R   G   B   A\n\n0   Clear_Label 0 0 0 255\r\n17  Left_hippocampus   220 216 20  0\r\n";
    let blanks = |(word, name, colour): (u64, String, Option<[u8; 4]>)| (word, name.replace(' ', "_"), colour);
    assert_eq!(known(free, CellType::I32), coloured.iter().cloned().map(blanks).collect::<Vec<_>>());
    let plain = vec![(1, "Precentral_L".to_owned(), None), (2, "Precentral_R".to_owned(), None)];
    assert_eq!(known("1 Precentral_L 2001\n2 Precentral_R 2002\n", CellType::U8), plain);
    assert_eq!(known("2\tPrecentral_R\n1\tPrecentral_L\n", CellType::U8), plain);
    let bids = "\u{feff}index\tname\tabbreviation\tcolor\n17\tLeft hippocampus\tlh\t#DCD814\n3\tGrey, matter\tgm\t\n";
    let expected =
        vec![(3, "Grey, matter".to_owned(), None), (17, "Left hippocampus".to_owned(), Some([220, 216, 20, 255]))];
    assert_eq!(known(bids, CellType::U8), expected);
    // Names of several words, with commas and quotes, and alpha as 3D Slicer has it.
    let words = [(1, "Left Cerebral White Matter".to_owned(), None), (2, "Cortex, left".to_owned(), None)];
    assert_eq!(known("1 Left Cerebral White Matter\n2 Cortex, left 2002\n", CellType::U8), words);
    let slicer = known("1 grey matter 128 174 128 255\n2 x 1 2 3 255\n", CellType::U8);
    assert_eq!(slicer[0], (1, "grey matter".to_owned(), Some([128, 174, 128, 255])));
    assert_eq!(known("0,\"He said \"\"hi\"\"\"\r1,b\r", CellType::U8)[0].1, "He said \"hi\"");
    let csv = "Name,Label,R,G,B\n\"Grey, matter\",3,,,\nLeft hippocampus,17,220,216,20\n";
    assert_eq!(
        known(csv, CellType::F32).iter().map(|label| label.1.clone()).collect::<Vec<_>>(),
        ["Grey, matter", "Left hippocampus"]
    );
    assert_eq!(known(csv, CellType::F32)[1].0, u64::from(17f32.to_bits()));
}

#[test]
fn what_is_no_label() {
    let table = LabelTable::of("1 a\n300 b\n-1 c\n", CellType::U8).unwrap();
    assert_eq!((table.labels.len(), table.others), (1, 2));
    let rows = LabelTable::of("index\tname\n1\ta\nn/a\tb\n2\t\n", CellType::U8).unwrap();
    assert_eq!((rows.labels.len(), rows.others), (1, 2));
    for (text, why) in [
        ("1 a\n1 b\n", "line 2: label '1': the table has this value twice"),
        ("1 a\nb\n", "line 2: label 'b'"),
        ("some text\n", "line 1: label 'some text'"),
        ("1\n", "line 1: label '1'"),
        ("label,color\n1,#ffffff\n", "line 1"),
        ("# nothing\n", "no label"),
        ("", "no label"),
        ("index,name\n", "line 1"),
    ] {
        let error = LabelTable::of(text, CellType::U8).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

proptest! {
    /// Any text is a table or an error; labels of a table are of different values and have names.
    #[test]
    fn any_text_is_a_table_or_an_error(text in "([0-9]{0,3}[ \\t,]?(\"?[a-c# ,\t\"]{0,9})[ \\t,]?[0-9#.-]{0,4}\n){0,9}") {
        if let Ok(table) = LabelTable::of(&text, CellType::I16) {
            prop_assert!(table.labels.windows(2).all(|pair| pair[0].word != pair[1].word));
            prop_assert!(table.labels.iter().all(|label| !label.name.is_empty()));
        }
    }
}
