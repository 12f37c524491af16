//! Blocks of content on both sides.

use rmcp::model::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, Resource, ResourceContents,
};
use toolsmith_core::Block;
use toolsmith_core::outcome::ResourceContent;

/// A block as a client gets it.
pub(crate) fn to_wire(block: Block) -> ContentBlock {
    match block {
        Block::Text { text } => ContentBlock::text(text),
        Block::Image { data, mime_type } => ContentBlock::Image(ImageContent::new(data, mime_type)),
        Block::Audio { data, mime_type } => ContentBlock::Audio(AudioContent::new(data, mime_type)),
        Block::Resource {
            uri,
            mime_type,
            content,
        } => ContentBlock::Resource(EmbeddedResource::new(contents(uri, mime_type, content))),
        Block::Link {
            uri,
            name,
            description,
            mime_type,
        } => {
            let mut resource = Resource::new(uri, name);
            resource.description = description;
            resource.mime_type = mime_type;
            ContentBlock::ResourceLink(resource)
        }
        other => ContentBlock::text(format!("[a block this server cannot send: {other:?}]")),
    }
}

/// The content of a resource as a client gets it.
pub(crate) fn contents(
    uri: String,
    mime_type: Option<String>,
    content: ResourceContent,
) -> ResourceContents {
    match content {
        ResourceContent::Text(text) => ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text,
            meta: None,
        },
        ResourceContent::Blob(blob) => ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            meta: None,
        },
    }
}

/// A block as an upstream sent it.
pub(crate) fn from_wire(block: ContentBlock) -> Block {
    match block {
        ContentBlock::Text(text) => Block::text(text.text),
        ContentBlock::Image(image) => Block::Image {
            data: image.data,
            mime_type: image.mime_type,
        },
        ContentBlock::Audio(audio) => Block::Audio {
            data: audio.data,
            mime_type: audio.mime_type,
        },
        ContentBlock::Resource(embedded) => {
            let (uri, mime_type, content) = parts(embedded.resource);
            Block::Resource {
                uri,
                mime_type,
                content,
            }
        }
        ContentBlock::ResourceLink(resource) => Block::Link {
            uri: resource.uri,
            name: resource.name,
            description: resource.description,
            mime_type: resource.mime_type,
        },
        _ => Block::text("[a block of a sort nobody here knows]"),
    }
}

/// Address, media type and content of a resource.
pub(crate) fn parts(contents: ResourceContents) -> (String, Option<String>, ResourceContent) {
    match contents {
        ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text,
            ..
        } => (uri, mime_type, ResourceContent::Text(text)),
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => (uri, mime_type, ResourceContent::Blob(blob)),
        _ => (
            String::new(),
            None,
            ResourceContent::Text("[content of a sort nobody here knows]".to_owned()),
        ),
    }
}
