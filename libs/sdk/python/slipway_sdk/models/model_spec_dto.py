from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="ModelSpecDto")


@_attrs_define
class ModelSpecDto:
    """
    Attributes:
        id (str): The name the model server knows the model by Example: llama-3.1-8b.
        format_ (str | Unset):  Example: gguf.
        quantization (str | Unset):  Example: Q4_K_M.
        revision (str | Unset):
        uri (str | Unset): Where the weights are, such as a path or hf://…
    """

    id: str
    format_: str | Unset = UNSET
    quantization: str | Unset = UNSET
    revision: str | Unset = UNSET
    uri: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        format_ = self.format_

        quantization = self.quantization

        revision = self.revision

        uri = self.uri

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
            }
        )
        if format_ is not UNSET:
            field_dict["format"] = format_
        if quantization is not UNSET:
            field_dict["quantization"] = quantization
        if revision is not UNSET:
            field_dict["revision"] = revision
        if uri is not UNSET:
            field_dict["uri"] = uri

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = d.pop("id")

        format_ = d.pop("format", UNSET)

        quantization = d.pop("quantization", UNSET)

        revision = d.pop("revision", UNSET)

        uri = d.pop("uri", UNSET)

        model_spec_dto = cls(
            id=id,
            format_=format_,
            quantization=quantization,
            revision=revision,
            uri=uri,
        )

        model_spec_dto.additional_properties = d
        return model_spec_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
